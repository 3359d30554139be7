"""CUDA source of the traversals: of public chance sampling, whose kernels are generated from the
betting of a street (`street_source`), and of exact values (`EXACT_STREET`, `EXACT_VALUES`).

The last index of every array is a start of the street, so that neighbouring threads read
neighbouring numbers. Tables are planes: [node an action leads to][bucket][start].
"""

from __future__ import annotations

from counterplay.poker.vector.cuda_columns import (
    action_numbers,
    children,
    columns_of,
    filled,
    tree_code,
)
from counterplay.poker.vector.public_tree import Street

EXACT_STREET = r"""
#define STARTS @STARTS@
#define COLUMN ((size_t)@COLUMN@)
#define SHOWDOWN_WIDTH (@SHOWDOWNS@ * COLUMN)
#define FOLD_WIDTH (@FOLDS@ * COLUMN)
#define RANGE_WIDTH (SHOWDOWN_WIDTH + FOLD_WIDTH)
#define SEQUENCES (@SHOWDOWNS@ + @FOLDS@)
#define CARDS @CARDS@
#define SUMS @SUMS@

extern "C" __global__ void meetings_and_sums(const unsigned* __restrict__ words,
    const unsigned short* __restrict__ first, const int n, const int max_classes, const int classes,
    const int width, half_* __restrict__ out)
{   // out[board][k][2 classes]: holdings of a class that are weaker than holding k less the
    // stronger ones, for k < n <= width; then for each card those that have it; then all
    const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, board = blockIdx.z;
    if (c >= classes) return;
    const unsigned* word = words + (size_t)board * n;
    const unsigned short* begin = first + (size_t)board * max_classes;
    const unsigned own = row < n ? word[row] : 0;
    const int card = row - width;
    int count = 0;
    for (int j = begin[c]; j < begin[c + 1]; ++j) {
        const unsigned other = word[j];
        if (row >= width)
            count += card == CARDS || LOW(other) == card || HIGH(other) == card;
        else if (row < n)
            count += DISJOINT(own, other)
                * ((GROUP(own) > GROUP(other)) - (GROUP(own) < GROUP(other)));
    }
    put_twice(out, ((size_t)board * (width + SUMS) + row) * 2 * classes + c, classes, count);
}

extern "C" __global__ void spread(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ holding, const unsigned short* __restrict__ code,
    const int max_classes, const int classes, half_* __restrict__ ranges)
{   // ranges[board][2 classes][sequence][start]: reach of a class after the opponent's sequences
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, board = blockIdx.z;
    if (start >= STARTS) return;
    const int one = holding[(size_t)board * max_classes + c];
    const float here = one == NO_HOLDING ? 0.f : y[(size_t)one * STARTS + start];
    const size_t from = one == NO_HOLDING ? 0 : code[(size_t)board * max_classes + c];
    const float* after = path + from * SEQUENCES * STARTS + start;
    const size_t at = ((size_t)board * 2 * classes + c) * RANGE_WIDTH + start;
    for (int k = 0; k < SEQUENCES; ++k)
        split(ranges, at + k * COLUMN, classes * RANGE_WIDTH, here * after[(size_t)k * STARTS]);
}

extern "C" __global__ void find(const unsigned* __restrict__ words,
    const unsigned short* __restrict__ first, const int n, const int max_classes,
    unsigned short* __restrict__ position, unsigned short* __restrict__ class_of)
{   // position of each holding on each board, and the class of each position
    const int c = blockIdx.x * blockDim.x + threadIdx.x, board = blockIdx.y;
    if (c >= max_classes - 1) return;
    const unsigned short* begin = first + (size_t)board * max_classes;
    for (int k = begin[c]; k < begin[c + 1]; ++k) {
        const unsigned word = words[(size_t)board * n + k];
        const int high = HIGH(word);
        position[(size_t)board * HOLDINGS + high * (high - 1) / 2 + LOW(word)] = k;
        class_of[(size_t)board * n + k] = c;
    }
}

@STAKES@
#define range_of(c) (widen(ranges[range_at + (c)]) \
    + widen(ranges[range_at + classes * RANGE_WIDTH + (c)]) / 2048.f)
"""
EXACT_VALUES = r"""
extern "C" __global__ void up(const float* __restrict__ products,
    const float* __restrict__ fold_products, const half_* __restrict__ ranges,
    const float* __restrict__ payoff, const unsigned* __restrict__ words,
    const unsigned short* __restrict__ position, const unsigned short* __restrict__ class_of,
    const unsigned short* __restrict__ own_code, const int* __restrict__ weight,
    const float* __restrict__ policy, const float* __restrict__ below,
    const int* __restrict__ below_start, const int boards, const int n, const int width,
    const int classes, const int starts_below, const float scale, float* __restrict__ out)
{   // add the values of a holding at a start, summed over boards; blocks of neighbouring holdings
    // run at the same time and read the same sums
    const int start = blockIdx.y * blockDim.x + threadIdx.x, q = blockIdx.x;
    if (start >= STARTS) return;
    float total = 0.f;
    for (int board = 0; board < boards; ++board) {
        const int k = position[(size_t)board * HOLDINGS + q];
        if (k == NO_HOLDING) continue;
        const size_t row = (size_t)board * n + k;
        const float* won = products + ((size_t)board * (width + SUMS) + k) * SHOWDOWN_WIDTH + start;
        const float* sums = products + ((size_t)board * (width + SUMS) + width) * SHOWDOWN_WIDTH
            + start;
        const float* fold_sums = fold_products + (size_t)board * SUMS * FOLD_WIDTH + start;
        const size_t range_at = ((size_t)board * 2 * classes + class_of[row]) * RANGE_WIDTH + start;
        const float* own = policy + (size_t)own_code[row] * @NODES@ * STARTS + start;
        const int low = LOW(words[row]), high = HIGH(words[row]);
@TREE@
        total += weight[board] * v0;
    }
    out[(size_t)q * STARTS + start] += total;
}

extern "C" __global__ void pass_down(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ codes, const int* __restrict__ above, const int starts,
    const int starts_above, float* __restrict__ out)
{   // reach after the turn's onward ends: [turn][holding][start of the river]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start < starts)
        out[((size_t)turn * HOLDINGS + p) * starts + start] =
            y[(size_t)p * starts_above + above[start]]
            * path[(size_t)codes[turn * HOLDINGS + p] * starts + start];
}

extern "C" __global__ void average_over_suits(const float* __restrict__ values,
    const int* __restrict__ stabilizer,
    const int* __restrict__ n_stabilizer, const short* __restrict__ permuted, const int starts,
    float* __restrict__ out)
{   // the mean over the suit permutations that map the board to itself
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start >= starts) return;
    float total = 0.f;
    for (int k = 0; k < n_stabilizer[turn]; ++k) {
        const int q = permuted[stabilizer[turn * 24 + k] * HOLDINGS + p];
        total += values[((size_t)turn * HOLDINGS + q) * starts + start];
    }
    out[((size_t)turn * HOLDINGS + p) * starts + start] = total / n_stabilizer[turn];
}
"""


_KERNELS = r"""
#define STARTS @STARTS@
#define BUCKETS @BUCKETS@
#define PLANE ((size_t)BUCKETS * STARTS)
#define showdown(k) showdowns[(k) * STARTS]
#define fold(k) folds[(k) * STARTS]
#define both(k) boths[(k) * STARTS]

extern "C" __global__ void set_policies(const double* __restrict__ regret,
    const float* __restrict__ fixed, const float* __restrict__ trust, const int restricted,
    const int per_hand, float* __restrict__ policy, float* __restrict__ own,
    float* __restrict__ path0, float* __restrict__ path1, float* __restrict__ path2)
{   // policies from the regrets, and the path of every action sequence from the start
    const int start = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)b * STARTS + start;
    path0[at] = path1[at] = 1.f;
    if (per_hand) path2[at] = 1.f;
@POLICIES@
}

extern "C" __global__ void spread(const float* __restrict__ y, const float* __restrict__ path,
    const float* __restrict__ y_model, const float* __restrict__ path_model, const int mixed,
    const float share, const float share_model, const float* __restrict__ pay,
    const unsigned short* __restrict__ code, const int* __restrict__ count, const int max_classes,
    const int classes, const int player, const int wide_showdown, const int wide_fold,
    const int wide_both, half_* __restrict__ showdown, half_* __restrict__ fold,
    half_* __restrict__ both)
{   // reach of each class in every column: [board][2 or 4 classes][column][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, board = blockIdx.z;
    if (start >= STARTS) return;
    const bool none = c >= count[board];
    const size_t from = none ? 0 : code[(size_t)board * max_classes + c];
    const size_t here = ((size_t)board * classes + c) * STARTS + start;
    const float own = none ? 0.f : y[here], other = none || !mixed ? 0.f : y_model[here];
    const float* paths = path + from * STARTS + start;
    const float* model = path_model + from * STARTS + start;
    const size_t row = (size_t)board * 2 * classes + c, double_row = row + (row - c);
    const size_t rest_showdown = (size_t)classes * wide_showdown;
    const size_t rest_fold = (size_t)classes * wide_fold, rest_both = (size_t)classes * wide_both;
#define REACH(end, sequence) pay[(end) * STARTS + start] * (mixed \
    ? share * own * paths[(sequence) * PLANE] + share_model * other * model[(sequence) * PLANE] \
    : own * paths[(sequence) * PLANE])
@SPREAD@
}

extern "C" __global__ void pass_reach(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ code, const int* __restrict__ count,
    const int* __restrict__ above, const int* __restrict__ sequence, const int max_classes,
    const int classes, const int starts_below, float* __restrict__ out)
{   // reach at the starts of the next street
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, board = blockIdx.z;
    if (start >= starts_below || c >= count[board]) return;
    const size_t row = (size_t)board * classes + c, b = code[(size_t)board * max_classes + c];
    out[row * starts_below + start] = y[row * STARTS + above[start]]
        * path[sequence[start] * PLANE + b * STARTS + above[start]];
}

"""


_UP = r"""
extern "C" __global__ void @NAME@(const float* __restrict__ all_showdowns,
    const float* __restrict__ all_folds, const float* __restrict__ all_boths,
    const unsigned short* __restrict__ member, const unsigned short* __restrict__ part,
    const unsigned short* __restrict__ first, const float* __restrict__ own,
    const float* __restrict__ y, const float* __restrict__ below,
    const int* __restrict__ below_start, const int boards, const int each, const int max_classes,
    const int most, const int classes, const int starts_below, const int wide_showdown,
    const int wide_fold, const int wide_both, float* __restrict__ root,
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
            const int c = member[(size_t)board * max_classes + j];
            const size_t row = (size_t)board * classes + c;
            const unsigned short* size = first + (size_t)board * max_classes + c;
            const float* showdowns = all_showdowns + row * wide_showdown + start;
            const float* folds = all_folds + row * wide_fold + start;
            const float* boths = all_boths + row * wide_both + start;
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

_UPDATE = r"""
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


def _decisions(street: Street, player: int | None = None) -> list[int]:
    """Returns the decision nodes, of both players or of one."""
    return [k for k, p in enumerate(street.player.tolist()) if p >= 0 and player in (None, p)]


def _policy_code(street: Street) -> str:
    lines = []
    for k in _decisions(street):
        below, actor = children(street, k), int(street.player[k])
        lines.append("    {")
        for c in below:
            lines.append(f"        const float r{c} = fmax(regret[{c - 1} * PLANE + at], 0.0);")
        total = " + ".join(f"r{c}" for c in below)
        lines.append(f"        const float total = {total};")
        lines.append("        const float scale = total > 0.f ? 1.f / total : 0.f;")
        lines.append(f"        const float even = total > 0.f ? 0.f : 1.f / {len(below)};")
        before = int(street.sequence[actor, k])
        for c in below:
            plane, after = f"{c - 1} * PLANE + at", int(street.sequence[actor, c])
            lines += [
                f"        const float p{c} = r{c} * scale + even;",
                f"        policy[{plane}] = p{c};",
                f"        float o{c} = p{c};",
                f"        if (restricted == {actor} && !per_hand) {{",
                f"            const float t{c} = trust[{plane}];",
                f"            o{c} = t{c} * fixed[{plane}] + (1.f - t{c}) * p{c};",
                "        }",
                f"        own[{plane}] = o{c};",
                f"        path{actor}[{after} * PLANE + at] ="
                f" path{actor}[{before} * PLANE + at] * o{c};",
                f"        if (restricted == {actor} && per_hand)",
                f"            path2[{after} * PLANE + at] ="
                f" path2[{before} * PLANE + at] * fixed[{plane}];",
            ]
        lines.append("    }")
    return "\n".join(lines)


def _spread_code(street: Street) -> str:
    lines = []
    for player in (0, 1):
        columns = columns_of(street, player)
        showdowns, folds, both = columns.counts
        lines.append(f"    if (player == {player}) {{")
        for end, k in enumerate(columns.terminals):
            number, name, row = end, "showdown", "row"
            if showdowns <= end:
                number, name = end - showdowns, "fold"
            if showdowns + folds <= end:
                number, name, row = end - showdowns - folds, "both", "double_row"
            if showdowns + folds + both <= end:
                number, row = number - both, "(double_row + 2 * classes)"
            where = f"{row} * wide_{name} + {number} * STARTS + start"
            reach = f"REACH({end}, {int(street.sequence[1 - player, k])})"
            lines.append(f"        split({name}, {where}, rest_{name}, {reach});")
        lines.append("    }")
    return "\n".join(lines)


def _tree_code(street: Street, player: int) -> list[str]:
    def onward(end: int) -> str:
        return f"below[row * starts_below + below_start[{end} * STARTS + start]]"

    return tree_code(street, player, lambda node: f"o{node}", onward)


def _lines(code: list[str], indent: int) -> str:
    return "\n".join(" " * indent + line for line in code)


def _up_code(street: Street, player: int) -> str:
    gains = action_numbers(street, player)
    write = f"gains[((size_t)chunk * {len(gains)} + g) * PLANE + at] = gain[g];"
    marks = {
        "NAME": f"up{player}",
        "GAINS": len(gains),
        "LOAD": _lines([f"const float o{c} = own[{c - 1} * PLANE + at];" for c in gains], 4),
        "TREE": _lines(_tree_code(street, player), 12),
        "ADD": _lines([f"gain[{g}] += v{c};" for c, g in gains.items()], 12),
        "WRITE": f"    for (int g = 0; g < {len(gains)}; ++g) {write}",
    }
    return filled(_UP, marks)


def _update_code(street: Street, player: int) -> str:
    gains = action_numbers(street, player)
    code = []
    for k in _decisions(street, player):
        below, line = children(street, k), int(street.sequence[player, k])
        mean = " + ".join(f"policy[{c - 1} * PLANE + at] * gain[{gains[c]}]" for c in below)
        code.append(f"mean = {mean};")
        code.append(f"weight = averages * reach * path[{line} * PLANE + at];")
        trust = f"trust[{below[0] - 1} * PLANE + at]"
        code.append(f"free = biased ? regrets * (1.0 - {trust}) : regrets;")
        for c in below:
            plane = f"{c - 1} * PLANE + at"
            code.append(f"regret[{plane}] += free * (gain[{gains[c]}] - mean);")
            code.append(f"sums[{plane}] += weight * policy[{plane}];")
    marks = {"NAME": f"update{player}", "GAINS": len(gains), "CODE": _lines(code, 4)}
    return filled(_UPDATE, marks)


def street_source(street: Street, starts: int, buckets: int) -> str:
    """Returns the source of the kernels of one street."""
    marks = {
        "STARTS": starts,
        "BUCKETS": buckets,
        "POLICIES": _policy_code(street),
        "SPREAD": _spread_code(street),
    }
    players = [make(street, player) for make in (_up_code, _update_code) for player in (0, 1)]
    return filled(_KERNELS, marks) + "".join(players)
