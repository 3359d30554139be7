"""CUDA source of the traversal of `kernels.py`: a thread for each holding on each board of a
street, for one node or for a few folds or showdowns.

Arrays are [row or node, board, holding] for each street. A fold or showdown compares every holding
with every other one, for `GROUP` of them at once: on a device that is quicker than sums in the
order of strength, which need one thread for each board.
"""

from __future__ import annotations

from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.spots import columns
from counterplay.poker.spots.betting import MOST_ACTIONS
from counterplay.poker.spots.kernels import BEST, LEARN

GROUP = 8  # folds or showdowns of a thread

_NODE = ("PLAYER", "CHILD", "ACTIONS", "NEXT", "BASE", "SIZE", "FLOOR")

_SOURCE = r"""
typedef @REAL@ real;
typedef long long wide;
#define COLUMNS @COLUMNS@
#define N_CARDS @CARDS@
#define GROUP @GROUP@
@DEFINES@

__device__ inline real above(const real* __restrict__ source, const size_t low, const int a,
    const int n)
{
    const real x = source[low + (size_t)a * n];
    return x > 0 ? x : 0;
}

__device__ inline void match(const wide* __restrict__ node, const real* __restrict__ source,
    const int board, const int h, const int n, real* policy)
{   // regret matching
    const int count = (int)node[ACTIONS];
    const size_t low = node[BASE] + (size_t)board * node[SIZE] + h;
    real total = 0;
    for (int a = 0; a < count; ++a) total += above(source, low, a, n);
    for (int a = 0; a < count; ++a)
        policy[a] = total > 0 ? above(source, low, a, n) / total : (real)1 / count;
}

__device__ inline void bind(const wide* __restrict__ node, const real* __restrict__ least,
    const int board, const int h, const int n, real* policy)
{   // above the least probabilities of a locked node
    if (node[FLOOR] < 0) return;
    const int count = (int)node[ACTIONS];
    const size_t low = node[FLOOR] + (size_t)board * node[SIZE] + h;
    real left = 1;
    for (int a = 0; a < count; ++a) left -= least[low + (size_t)a * n];
    left = left > 0 ? left : 0;
    for (int a = 0; a < count; ++a) policy[a] = least[low + (size_t)a * n] + left * policy[a];
}

extern "C" __global__ void descend(const int* __restrict__ list, const wide* __restrict__ nodes,
    const int* __restrict__ row, const real* __restrict__ source, const real* __restrict__ least,
    const real* __restrict__ number, const int learn, const int boards, const int n,
    real* __restrict__ sums, real* reach)
{   // the other player's reach after one of its decisions, which is added to its average
    const int at = blockIdx.x * blockDim.x + threadIdx.x, k = list[blockIdx.y], all = boards * n;
    if (at >= all) return;
    const wide* node = nodes + (size_t)k * COLUMNS;
    const int count = (int)node[ACTIONS], child = (int)node[CHILD];
    const size_t low = node[BASE] + (size_t)(at / n) * node[SIZE] + at % n;
    real policy[MOST_ACTIONS];
    match(node, source, at / n, at % n, n, policy);
    bind(node, least, at / n, at % n, n, policy);
    const real here = reach[(size_t)row[k] * all + at];
    for (int a = 0; a < count; ++a) {
        const real after = here * policy[a];
        reach[(size_t)row[child + a] * all + at] = after;
        if (learn) sums[low + (size_t)a * n] += number[0] * after;
    }
}

extern "C" __global__ void deal(const int* __restrict__ list, const wide* __restrict__ nodes,
    const int* __restrict__ row, const int* __restrict__ parent, const int* __restrict__ card,
    const int* __restrict__ cards, const real* __restrict__ before, const int boards_before,
    const int boards, const int n, real* __restrict__ reach)
{   // the reach of holdings without the card that is dealt
    const int at = blockIdx.x * blockDim.x + threadIdx.x, k = list[blockIdx.y];
    if (at >= boards * n) return;
    const int b = at / n, h = at % n;
    const bool blocked = cards[2 * h] == card[b] || cards[2 * h + 1] == card[b];
    const size_t from = ((size_t)row[k] * boards_before + parent[b]) * n + h;
    const size_t to = (size_t)row[nodes[(size_t)k * COLUMNS + NEXT]] * boards * n + at;
    reach[to] = blocked ? 0 : before[from];
}

extern "C" __global__ void gather(const int* __restrict__ list, const wide* __restrict__ nodes,
    const int* __restrict__ place, const int* __restrict__ next_board,
    const int* __restrict__ suits, const int* __restrict__ image, const int* __restrict__ cards,
    const real* __restrict__ below, const int boards_below, const int left, const int boards,
    const int n, real* __restrict__ value)
{   // the mean over the next cards of the values after them
    const int at = blockIdx.x * blockDim.x + threadIdx.x, k = list[blockIdx.y];
    if (at >= boards * n) return;
    const int b = at / n, h = at % n;
    const size_t from = (size_t)place[nodes[(size_t)k * COLUMNS + NEXT]] * boards_below;
    real total = 0;
    for (int c = 0; c < N_CARDS; ++c) {
        const int next = next_board[b * N_CARDS + c];
        if (next < 0 || cards[2 * h] == c || cards[2 * h + 1] == c) continue;
        total += below[(from + next) * n + image[(size_t)suits[b * N_CARDS + c] * n + h]];
    }
    value[(size_t)place[k] * boards * n + at] = total / left;
}

extern "C" __global__ void ends(const int* __restrict__ list, const int* __restrict__ place,
    const int* __restrict__ row, const real* __restrict__ payoff, const int* __restrict__ rank,
    const int* __restrict__ other_rank, const int* __restrict__ cards,
    const int* __restrict__ other_cards, const real* __restrict__ reach, const int showdown,
    const int boards, const int n, const int m, real* __restrict__ value)
{   // folds or showdowns: what a holding gets from all of the other player that it can meet
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= boards * n) return;
    const int b = at / n, h = at % n, one = cards[2 * h], two = cards[2 * h + 1];
    const int own = showdown ? rank[at] : 0;
    const int* node = list + blockIdx.y * GROUP;
    real met[GROUP], won[GROUP], lost[GROUP];
    size_t from[GROUP];
    for (int g = 0; g < GROUP; ++g) {
        met[g] = won[g] = lost[g] = 0;
        from[g] = ((size_t)row[node[g]] * boards + b) * m;
    }
    for (int j = 0; j < m; ++j) {
        const int first = other_cards[2 * j], second = other_cards[2 * j + 1];
        if (first == one || first == two || second == one || second == two) continue;
        const int theirs = showdown ? other_rank[b * m + j] : 0;
        const real weaker = theirs < own, stronger = theirs > own;
        for (int g = 0; g < GROUP; ++g) {
            const real x = reach[from[g] + j];
            met[g] += x;
            won[g] += weaker * x;
            lost[g] += stronger * x;
        }
    }
    const real live = own >= 0;
    for (int g = 0; g < GROUP; ++g) {
        const real* paid = payoff + (size_t)node[g] * 3;
        const real more = (paid[2] - paid[1]) * won[g] + (paid[0] - paid[1]) * lost[g];
        value[(size_t)place[node[g]] * boards * n + at] = paid[1] * met[g] + live * more;
    }
}

extern "C" __global__ void back_up(const int* __restrict__ list, const wide* __restrict__ nodes,
    const int* __restrict__ place, const real* __restrict__ least, const real* __restrict__ number,
    const int player, const int mode, const int recorded, const int boards, const int n,
    real* source, real* value)
{   // the value of a decision; the player's own is updated as `mode` says
    const int at = blockIdx.x * blockDim.x + threadIdx.x, k = list[blockIdx.y], all = boards * n;
    if (at >= all) return;
    const wide* node = nodes + (size_t)k * COLUMNS;
    const int count = (int)node[ACTIONS], b = at / n, h = at % n;
    const real* below = value + (size_t)place[node[CHILD]] * all + at;
    const size_t low = node[BASE] + (size_t)b * node[SIZE] + h;
    real policy[MOST_ACTIONS], mean = 0;
    if (node[PLAYER] != player) {
        for (int a = 0; a < count; ++a) mean += below[(size_t)a * all];
        value[(size_t)place[k] * all + at] = mean;
        return;
    }
    if (mode == BEST) {
        int best = 0;
        for (int a = 1; a < count; ++a)
            if (below[(size_t)a * all] > below[(size_t)best * all]) best = a;
        for (int a = 0; a < count; ++a) policy[a] = a == best;
        if (recorded)
            for (int a = 0; a < count; ++a) source[low + (size_t)a * n] = policy[a];
    } else match(node, source, b, h, n, policy);
    bind(node, least, b, h, n, policy);
    for (int a = 0; a < count; ++a) mean += policy[a] * below[(size_t)a * all];
    value[(size_t)place[k] * all + at] = mean;
    if (mode != LEARN) return;
    if (node[FLOOR] >= 0) {
        const size_t from = node[FLOOR] + (size_t)b * node[SIZE] + h;
        real left = 1, fixed = 0;
        for (int a = 0; a < count; ++a) {
            left -= least[from + (size_t)a * n];
            fixed += least[from + (size_t)a * n] * below[(size_t)a * all];
        }
        mean = left > 0 ? (mean - fixed) / left : mean;
    }
    for (int a = 0; a < count; ++a) {
        const real regret = source[low + (size_t)a * n] + (below[(size_t)a * all] - mean);
        source[low + (size_t)a * n] = regret * (regret > 0 ? number[1] : number[2]);
    }
}
"""


def spot_source(real: str) -> str:
    """The kernels in `float` or `double`."""
    named = {name: getattr(columns, name) for name in _NODE}
    named |= {"MOST_ACTIONS": MOST_ACTIONS, "BEST": BEST, "LEARN": LEARN}
    defines = "\n".join(f"#define {name} {value}" for name, value in named.items())
    source = _SOURCE.replace("@DEFINES@", defines)
    for name, value in (
        ("REAL", real), ("COLUMNS", columns.NODE_COLUMNS), ("CARDS", N_CARDS), ("GROUP", GROUP),
    ):  # fmt: skip
        source = source.replace(f"@{name}@", str(value))
    return source
