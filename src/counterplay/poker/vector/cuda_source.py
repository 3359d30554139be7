"""CUDA source of public chance sampling for one street, written out from its betting.

Every number has a start of the street as its last index, so that neighbouring threads read
neighbouring numbers. Tables are planes: [place an action leads to][bucket][start].
"""

from __future__ import annotations

from counterplay.poker.vector.columns import columns_of, tree_code
from counterplay.poker.vector.public_tree import Street

_KERNELS = r"""
#define STARTS @STARTS@
#define BUCKETS @BUCKETS@
#define PLANE ((size_t)BUCKETS * STARTS)
#define shown(k) show[(k) * STARTS]
#define gone(k) fold[(k) * STARTS]
#define both(k) beside[(k) * STARTS]

extern "C" __global__ void settle(const double* __restrict__ regret,
    const float* __restrict__ fixed, const float* __restrict__ trust, const int restricted,
    const int once, float* __restrict__ policy, float* __restrict__ own,
    float* __restrict__ path0, float* __restrict__ path1, float* __restrict__ path2)
{   // policies from the regrets, and the reach of every line behind the start
    const int start = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)b * STARTS + start;
    path0[at] = path1[at] = 1.f;
    if (once) path2[at] = 1.f;
@SETTLE@
}

extern "C" __global__ void spread(const float* __restrict__ y, const float* __restrict__ path,
    const float* __restrict__ y_model, const float* __restrict__ path_model, const int mixed,
    const float share, const float share_model, const float* __restrict__ pay,
    const unsigned short* __restrict__ code, const int* __restrict__ count, const int room,
    const int classes, const int player, const int wide_shown, const int wide_gone,
    const int wide_both, half_* __restrict__ shown, half_* __restrict__ gone,
    half_* __restrict__ both)
{   // what a player meets of each class in every column: [board][2 or 4 classes][column][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, board = blockIdx.z;
    if (start >= STARTS) return;
    const bool none = c >= count[board];
    const size_t from = none ? 0 : code[(size_t)board * room + c];
    const size_t here = ((size_t)board * classes + c) * STARTS + start;
    const float mine = none ? 0.f : y[here], his = none || !mixed ? 0.f : y_model[here];
    const float* lines = path + from * STARTS + start;
    const float* model = path_model + from * STARTS + start;
    const size_t row = (size_t)board * 2 * classes + c, double_row = row + (row - c);
    const size_t rest_shown = (size_t)classes * wide_shown, rest_gone = (size_t)classes * wide_gone;
    const size_t rest_both = (size_t)classes * wide_both;
#define REACH(end, line) pay[(end) * STARTS + start] * (mixed \
    ? share * mine * lines[(line) * PLANE] + share_model * his * model[(line) * PLANE] \
    : mine * lines[(line) * PLANE])
@SPREAD@
}

extern "C" __global__ void down(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ code, const int* __restrict__ count,
    const int* __restrict__ above, const int* __restrict__ line, const int room, const int classes,
    const int starts_below, float* __restrict__ out)
{   // reach at the starts of the next street
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, board = blockIdx.z;
    if (start >= starts_below || c >= count[board]) return;
    const size_t row = (size_t)board * classes + c, b = code[(size_t)board * room + c];
    out[row * starts_below + start] = y[row * STARTS + above[start]]
        * path[line[start] * PLANE + b * STARTS + above[start]];
}

"""


_UP = r"""
extern "C" __global__ void @NAME@(const float* __restrict__ all_shown,
    const float* __restrict__ all_gone, const float* __restrict__ all_both,
    const unsigned short* __restrict__ member, const unsigned short* __restrict__ part,
    const unsigned short* __restrict__ first, const float* __restrict__ own,
    const float* __restrict__ y, const float* __restrict__ below,
    const int* __restrict__ below_start, const int boards, const int each, const int room,
    const int most, const int classes, const int starts_below, const int wide_shown,
    const int wide_gone, const int wide_both, float* __restrict__ root,
    float* __restrict__ gains, float* __restrict__ held)
{   // values of classes at a start, and their sums over the classes of a bucket
    const int start = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y, chunk = blockIdx.z;
    if (start >= STARTS) return;
    const size_t at = (size_t)b * STARTS + start;
    float gain[@GAINS@ + 1];
    for (int g = 0; g < @GAINS@; ++g) gain[g] = 0.f;
@LOAD@
    float reach = 0.f;
    for (int board = chunk * each; board < min(boards, (chunk + 1) * each); ++board) {
        const unsigned short* ends = part + (size_t)board * (most + 1);
        for (int j = ends[b]; j < ends[b + 1]; ++j) {
            const int c = member[(size_t)board * room + j];
            const size_t row = (size_t)board * classes + c;
            const unsigned short* size = first + (size_t)board * room + c;
            const float* show = all_shown + row * wide_shown + start;
            const float* fold = all_gone + row * wide_gone + start;
            const float* beside = all_both + row * wide_both + start;
@TREE@
@ADD@
            reach += (size[1] - size[0]) * y[row * STARTS + start];
            root[row * STARTS + start] = v0;
        }
    }
@WRITE@
    held[chunk * PLANE + at] = reach;
}
"""

_LEARN = r"""
extern "C" __global__ void @NAME@(const float* __restrict__ gains, const float* __restrict__ held,
    const float* __restrict__ policy, const float* __restrict__ path,
    const float* __restrict__ trust, const int biased, const int chunks, const double regrets,
    const double averages, double* __restrict__ regret, double* __restrict__ sums)
{
    const int start = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)b * STARTS + start;
    double gain[@GAINS@ + 1], reach = 0.0;
    for (int g = 0; g < @GAINS@; ++g) gain[g] = 0.0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        for (int g = 0; g < @GAINS@; ++g)
            gain[g] += gains[((size_t)chunk * @GAINS@ + g) * PLANE + at];
        reach += held[chunk * PLANE + at];
    }
    double mean, weight, free;
@CODE@
}
"""


def _places(street: Street, player: int | None = None) -> list[int]:
    """Places where somebody, or one player, acts."""
    return [k for k, p in enumerate(street.player.tolist()) if p >= 0 and player in (None, p)]


def children(street: Street, k: int) -> range:
    return range(int(street.first[k]), int(street.first[k + 1]))


def gains_of(street: Street, player: int) -> dict[int, int]:
    """Numbers for the places that a player's actions lead to."""
    found = [c for k in _places(street, player) for c in children(street, k)]
    return {c: g for g, c in enumerate(found)}


def _settle(street: Street) -> str:
    lines = []
    for k in _places(street):
        below, actor = children(street, k), int(street.player[k])
        lines.append("    {")
        for c in below:
            lines.append(f"        const float r{c} = fmax(regret[{c - 1} * PLANE + at], 0.0);")
        total = " + ".join(f"r{c}" for c in below)
        lines.append(f"        const float total = {total};")
        lines.append("        const float scale = total > 0.f ? 1.f / total : 0.f;")
        lines.append(f"        const float even = total > 0.f ? 0.f : 1.f / {len(below)};")
        before = int(street.line[actor, k])
        for c in below:
            plane, after = f"{c - 1} * PLANE + at", int(street.line[actor, c])
            lines += [
                f"        const float p{c} = r{c} * scale + even;",
                f"        policy[{plane}] = p{c};",
                f"        float o{c} = p{c};",
                f"        if (restricted == {actor} && !once) {{",
                f"            const float t{c} = trust[{plane}];",
                f"            o{c} = t{c} * fixed[{plane}] + (1.f - t{c}) * p{c};",
                "        }",
                f"        own[{plane}] = o{c};",
                f"        path{actor}[{after} * PLANE + at] ="
                f" path{actor}[{before} * PLANE + at] * o{c};",
                f"        if (restricted == {actor} && once)",
                f"            path2[{after} * PLANE + at] ="
                f" path2[{before} * PLANE + at] * fixed[{plane}];",
            ]
        lines.append("    }")
    return "\n".join(lines)


def _spread(street: Street) -> str:
    lines = []
    for player in (0, 1):
        columns = columns_of(street, player)
        shown, gone, both = columns.counts
        lines.append(f"    if (player == {player}) {{")
        for end, k in enumerate(columns.ends):
            number, name, row = end, "shown", "row"
            if shown <= end:
                number, name = end - shown, "gone"
            if shown + gone <= end:
                number, name, row = end - shown - gone, "both", "double_row"
            if shown + gone + both <= end:
                number, row = number - both, "(double_row + 2 * classes)"
            where = f"{row} * wide_{name} + {number} * STARTS + start"
            reach = f"REACH({end}, {int(street.line[1 - player, k])})"
            lines.append(f"        split({name}, {where}, rest_{name}, {reach});")
        lines.append("    }")
    return "\n".join(lines)


def _tree(street: Street, player: int) -> list[str]:
    def onward(end: int) -> str:
        return f"below[row * starts_below + below_start[{end} * STARTS + start]]"

    return tree_code(street, player, lambda place: f"o{place}", onward)


def _filled(source: str, marks: dict[str, object]) -> str:
    for name, value in marks.items():
        source = source.replace(f"@{name}@", str(value))
    return source


def _lines(code: list[str], indent: int) -> str:
    return "\n".join(" " * indent + line for line in code)


def _up(street: Street, player: int) -> str:
    gains = gains_of(street, player)
    write = f"gains[((size_t)chunk * {len(gains)} + g) * PLANE + at] = gain[g];"
    marks = {
        "NAME": f"up{player}",
        "GAINS": len(gains),
        "LOAD": _lines([f"const float o{c} = own[{c - 1} * PLANE + at];" for c in gains], 4),
        "TREE": _lines(_tree(street, player), 12),
        "ADD": _lines([f"gain[{g}] += v{c};" for c, g in gains.items()], 12),
        "WRITE": f"    for (int g = 0; g < {len(gains)}; ++g) {write}",
    }
    return _filled(_UP, marks)


def _learn(street: Street, player: int) -> str:
    gains = gains_of(street, player)
    code = []
    for k in _places(street, player):
        below, line = children(street, k), int(street.line[player, k])
        mean = " + ".join(f"policy[{c - 1} * PLANE + at] * gain[{gains[c]}]" for c in below)
        code.append(f"mean = {mean};")
        code.append(f"weight = averages * reach * path[{line} * PLANE + at];")
        trust = f"trust[{below[0] - 1} * PLANE + at]"
        code.append(f"free = biased ? regrets * (1.0 - {trust}) : regrets;")
        for c in below:
            plane = f"{c - 1} * PLANE + at"
            code.append(f"regret[{plane}] += free * (gain[{gains[c]}] - mean);")
            code.append(f"sums[{plane}] += weight * policy[{plane}];")
    marks = {"NAME": f"learn{player}", "GAINS": len(gains), "CODE": _lines(code, 4)}
    return _filled(_LEARN, marks)


def street_source(street: Street, starts: int, buckets: int) -> str:
    """Kernels of one street."""
    marks = {
        "STARTS": starts,
        "BUCKETS": buckets,
        "SETTLE": _settle(street),
        "SPREAD": _spread(street),
    }
    players = [make(street, player) for make in (_up, _learn) for player in (0, 1)]
    return _filled(_KERNELS, marks) + "".join(players)
