"""CUDA source of what nodes do: regret matching, values by a policy or of a best response, and the
update of a learner's tables. `cuda_source.py` fills in the @MARKS@: the betting of a street as
straight-line code, by the types of seats.

Tables are planes: [node an action leads to][row][start]. Values are summed where they arise: over
the classes of a bucket (`UP`), over boards for a holding (`EXACT_UP`), over the holdings or classes
of a row (`VALUE`).
"""

from __future__ import annotations

STREET = r"""
#define TABLE @TABLE@
#define STARTS @STARTS@
#define ROWS ((size_t)@ROWS@)
#define HOLDINGS @HOLDINGS@
#define PLANE (ROWS * STARTS)
"""

#: The policies of learners, and how a restricted one follows its model.
MATCH = r"""
extern "C" __global__ void match_regrets(const TABLE* __restrict__ regret,
    float* __restrict__ policy, float* __restrict__ path0,
    float* __restrict__ path1@ARGUMENTS@)
{   // regret matching, and own action sequences' probabilities: [node or sequence][row][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)row * STARTS + start;
    path0[at] = 1.f;
    path1[at] = 1.f;
@BEGIN@@MATCH@
}
"""
RESTRICTED_ARGUMENTS = """,
    float* __restrict__ own, float* __restrict__ path2, const float* __restrict__ fixed,
    const float* __restrict__ trust, const int restricted, const int per_hand"""
RESTRICTED = "    if (per_hand) path2[at] = 1.f;\n"

#: The adversary's in the trunk, between the lower bounds of a model.
BOUNDED_ARGUMENTS = """,
    float* __restrict__ own, const u16* __restrict__ model_row, const float* __restrict__ bounds"""
BOUNDED = r"""    const bool live = model_row[row] != NO_HOLDING;
    const size_t bound_at = (live ? (size_t)model_row[row] * STARTS : 0) + start;
"""

#: Regrets of the adversary in the trunk are shrunk to the mean regrets of buckets (`adversary.py`).
PRIOR_ARGUMENTS = """,
    const float* __restrict__ prior, const u16* __restrict__ bucket, const float visits"""
PRIOR = r"""    const bool known = bucket[row] != NO_HOLDING;
    const size_t of = known ? (size_t)bucket[row] * STARTS + start : 0;
    const float weight = known ? visits : 0.f;
"""
PRIOR_PLANE = r"""
#define PRIOR_PLANE ((size_t)@BUCKETS@ * STARTS)
"""
LEARN_PRIOR = r"""
extern "C" __global__ void learn_prior@PLAYER@(const float* __restrict__ action_values,
    const float* __restrict__ policy, const unsigned* __restrict__ words,
    const u16* __restrict__ member, const int* __restrict__ first, const u16* __restrict__ rows,
    const float rate, float* __restrict__ prior)
{   // one board; of holdings that share a row, the one with its number counts
    const int start = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (start >= STARTS) return;
    float sum[@ACTIONS@], mean;
    int count = 0;
    for (int a = 0; a < @ACTIONS@; ++a) sum[a] = 0.f;
    for (int j = first[b]; j < first[b + 1]; ++j) {
        const int h = HOLDING(words[member[j]]);
        if (rows[h] != h) continue;
        const size_t at = (size_t)h * STARTS + start;
        ++count;
@GAIN@
    }
    if (count == 0) return;
    const size_t to = (size_t)b * STARTS + start;
@MOVE@
}
"""

#: A best response.
BEST = r"""
extern "C" __global__ void best@PLAYER@(@ARGUMENTS@,
    const unsigned* __restrict__ words, const float* __restrict__ below,
    const int* __restrict__ below_start, const int starts_below, const float scale, const int n,
    u16* __restrict__ choice, float* __restrict__ value@MORE@)
{   // the maximum at the player's nodes: value[board][k][start], and the action that attains it
    const int start = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y, b = blockIdx.z;
    if (start >= STARTS) return;
    const size_t row = (size_t)b * n + k;
@FIND@
    const float* onward = below + (size_t)HOLDING(words[row]) * starts_below;
    unsigned choices = 0;
@TREE@
    value[row * STARTS + start] = v0;
    choice[row * STARTS + start] = choices;
}
"""

#: Values by a policy, of holdings or classes.
VALUE = r"""
extern "C" __global__ void value@PLAYER@(@ARGUMENTS@,
    const unsigned* __restrict__ words, const u16* __restrict__ member,
    const int* __restrict__ first, const float* __restrict__ policy,
    const float* __restrict__ reach, const float* __restrict__ below,
    const int* __restrict__ below_start, const int starts_below, const float scale,
    const int boards, const int n, const int chunks, float* __restrict__ action_values,
    float* __restrict__ own_reaches, float* __restrict__ value)
{   // values by the player's policy; sums by row of the values of its actions and of its own reach.
    // `member`: positions of each row's holdings on each board, from `first[board][row]` on
    const int start = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y, chunk = blockIdx.z;
    if (start >= STARTS) return;
    const size_t at = (size_t)r * STARTS + start;
    float sum[@ACTIONS@], own_reach = 0.f;
    for (int a = 0; a < @ACTIONS@; ++a) sum[a] = 0.f;
@LOAD@
@EACH@
    for (int a = 0; a < @ACTIONS@; ++a)
        action_values[((size_t)chunk * @ACTIONS@ + a) * PLANE + at] = sum[a];
    own_reaches[(size_t)chunk * PLANE + at] = own_reach;
}
"""

#: What a kernel of values does on each board: for each holding of a row, and for each class.
EACH_HOLDING = r"""
    for (int b = chunk; b < boards; b += chunks) {
        const int* begin = first + (size_t)b * (ROWS + 1) + r;
        for (int j = begin[0]; j < begin[1]; ++j) {
            const size_t row = (size_t)b * n + member[(size_t)b * n + j];
            const int h = HOLDING(words[row]);
            const float* column = columns + row * @COLUMNS@ * STARTS + start;
            const float* onward = below + (size_t)h * starts_below;
@TREE@
@ADD@
            own_reach += reach[(size_t)h * STARTS + start];
            value[row * STARTS + start] = v0;
        }
    }
"""
EACH_CLASS = r"""
    for (int b = chunk; b < boards; b += chunks) {
        const int* begin = first + (size_t)b * (ROWS + 1) + r;
        const u16* members = member + (size_t)b * n;
        for (int c = begin[0]; c < begin[1]; ++c) {
            const u16* ends = class_first + (size_t)b * (n + 1) + c;
            const int size = ends[1] - ends[0];
            const int h = HOLDING(words[(size_t)b * n + members[ends[0]]]);
            const float* won = products + ((size_t)b * classes + c) * SHOWDOWN_WIDTH + start;
            const float* folds = fold_products + ((size_t)b * classes + c) * MET_WIDTH + start;
@TREE@
@ADD@
            own_reach += size * reach[(size_t)h * STARTS + start];
            for (int j = ends[0]; j < ends[1]; ++j)  // only their sum is used
                value[((size_t)b * n + members[j]) * STARTS + start] = v0 / size;
        }
    }
"""

#: The same for the classes of a bucket, and for a holding over all boards.
UP = r"""
#define showdown(k) showdowns[(k) * STARTS]
#define fold(k) folds[(k) * STARTS]
#define both(k) boths[(k) * STARTS]

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
EXACT_UP = r"""
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
"""

#: The tables of a learner.
UPDATE = r"""
extern "C" __global__ void update@PLAYER@(const float* __restrict__ action_values,
    const float* __restrict__ own_reaches, const float* __restrict__ policy,
    const float* __restrict__ path, const int chunks, const double regrets,
    const double averages@ARGUMENTS@, TABLE* __restrict__ regret,
    TABLE* __restrict__ strategy_sum)
{   // r(I, a) += v(I, a) - sum over b of policy(b) v(I, b); s += weight * own reach * policy
    const int start = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)row * STARTS + start;
    double sum[@ACTIONS@ + 1], reach = 0.0;
    for (int a = 0; a < @ACTIONS@; ++a) sum[a] = 0.0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        for (int a = 0; a < @ACTIONS@; ++a)
            sum[a] += action_values[((size_t)chunk * @ACTIONS@ + a) * PLANE + at];
        reach += own_reaches[(size_t)chunk * PLANE + at];
    }
    double mean, weight, @LOCAL@;
@UPDATE@
}
"""
