"""Templates of the CUDA kernels of CFR-BR; `cfr_br_source.py` fills in the @MARKS@.

Arrays have the starts of the street last, so that neighbouring threads read neighbouring numbers. A
holding on a board is a word: both cards, and its row. Holdings of a row that were played alike
before are a class (`cfr_br_boards.py`).
"""

#: Regret matching, and values by holding.
COMMON = r"""
#define TABLE @TABLE@
#define STARTS @STARTS@
#define ROWS ((size_t)@ROWS@)
#define HOLDINGS @HOLDINGS@
#define PLANE (ROWS * STARTS)
#define PRIOR_PLANE ((size_t)@BUCKETS@ * STARTS)
#define NO_HOLDING 65535
#define LOW(word) ((word) & 63)
#define HIGH(word) ((word) >> 6 & 63)
#define ROW(word) ((size_t)((word) >> 12))
#define HOLDING(word) (HIGH(word) * (HIGH(word) - 1) / 2 + LOW(word))
typedef unsigned short u16;

extern "C" __global__ void match_regrets(const TABLE* __restrict__ regret,
    float* __restrict__ policy, float* __restrict__ path0,
    float* __restrict__ path1@PRIOR_ARGUMENTS@)
{   // regret matching, and own action sequences' probabilities: [node or sequence][row][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)row * STARTS + start;
    path0[at] = 1.f;
    path1[at] = 1.f;
@PRIOR@@MATCH@
}

extern "C" __global__ void by_holding(const float* __restrict__ value,
    const u16* __restrict__ position, const int boards, const int n, float* __restrict__ out)
{   // values of a holding, summed over boards: [holding][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (start >= STARTS) return;
    float total = 0.f;
    for (int b = 0; b < boards; ++b) {
        const int k = position[(size_t)b * HOLDINGS + h];
        if (k != NO_HOLDING) total += value[((size_t)b * n + k) * STARTS + start];
    }
    out[(size_t)h * STARTS + start] = total;
}
"""

#: Showdowns and folds of the last street, as products of matrices with the opponent's ranges. Sums
#: are in single precision, ranges in half precision, in units of the largest reach at each start.
MATRICES = r"""
#define CARDS @CARDS@
#define SUMS @SUMS@
#define COLUMN ((size_t)@COLUMN@)
#define SHOWDOWN_WIDTH (@SHOWDOWNS@ * COLUMN)
#define FOLD_WIDTH (@FOLDS@ * COLUMN)
#define RANGE_WIDTH (SHOWDOWN_WIDTH + FOLD_WIDTH)
#define MET_WIDTH ((@SHOWDOWNS@ - @SHARED@ + @FOLDS@) * COLUMN)
#define CHUNK @CHUNK@
typedef u16 half_;
@WIDEN@
__device__ inline half_ halve(const float value)
{   // a number from 0 to 65,504 to the nearest in half precision
    return value < 6.103515625e-5f ? (half_)(value * 16777216.f + 0.5f)
        : (half_)((__float_as_uint(value) + 0x1000u >> 13) - 0x1c000u);
}

__device__ inline half_ floor_half(const float value)
{   // the same, truncated
    return value < 6.103515625e-5f ? (half_)(value * 16777216.f)
        : (half_)((__float_as_uint(value) >> 13) - 0x1c000u);
}

__device__ inline half_ whole(const int number)
{   // an integer from -2,048 to 2,048
    return number < 0 ? 0x8000 | halve((float)-number) : halve((float)number);
}

extern "C" __global__ void meetings(const unsigned* __restrict__ words,
    const u16* __restrict__ group_end, const u16* __restrict__ member,
    const u16* __restrict__ first, const int n, const int width, const int classes,
    half_* __restrict__ strength, half_* __restrict__ disjoint)
{   // strength[board][k][class]: its holdings that are weaker than holding k, less the stronger;
    // then for each card those that have it; then all. disjoint[board][k][class]: those that share
    // no card with k
    const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, b = blockIdx.z;
    if (c >= classes) return;
    int all = 0, more = 0;
    const u16* begin = first + (size_t)b * (n + 1) + c;
    const unsigned own = row < n ? words[(size_t)b * n + row] : 0;
    const int end = row < n ? group_end[(size_t)b * n + row] : 0;
    for (int i = c < n ? begin[0] : 0; i < (c < n ? begin[1] : 0); ++i) {
        const int j = member[(size_t)b * n + i];
        const unsigned other = words[(size_t)b * n + j];
        if (row < n) {
            const int apart = LOW(own) != LOW(other) && LOW(own) != HIGH(other)
                && HIGH(own) != LOW(other) && HIGH(own) != HIGH(other);
            all += apart;
            more += apart * ((group_end[(size_t)b * n + j] <= row) - (end <= j));
        } else if (row >= width) {
            const int card = row - width;
            more += card == CARDS || LOW(other) == card || HIGH(other) == card;
        }
    }
    strength[((size_t)b * (width + SUMS) + row) * classes + c] = whole(more);
    if (row < width) disjoint[((size_t)b * width + row) * classes + c] = whole(all);
}

extern "C" __global__ void largest(const float* __restrict__ reach, float* __restrict__ out)
{   // the largest reach among each CHUNK holdings
    const int start = blockIdx.x * blockDim.x + threadIdx.x, chunk = blockIdx.y;
    if (start >= STARTS) return;
    float most = 0.f;
    for (int h = chunk * CHUNK; h < min(HOLDINGS, (chunk + 1) * CHUNK); ++h)
        most = fmaxf(most, reach[(size_t)h * STARTS + start]);
    out[(size_t)chunk * STARTS + start] = most;
}

extern "C" __global__ void find_units(const float* __restrict__ parts, const int chunks,
    float* __restrict__ units)
{   // a power of two, so that the largest reach is at least one and less than two units
    const int start = blockIdx.x * blockDim.x + threadIdx.x;
    if (start >= STARTS) return;
    float most = 0.f;
    for (int chunk = 0; chunk < chunks; ++chunk)
        most = fmaxf(most, parts[(size_t)chunk * STARTS + start]);
    units[start] = most > 1e-30f ? __uint_as_float(__float_as_uint(most) & 0x7f800000u) : 1.f;
}
"""

#: The opponent's range at every terminal, by the policy of its classes.
POLICY_RANGES = r"""
extern "C" __global__ void policy_columns@PLAYER@(const unsigned* __restrict__ words,
    const u16* __restrict__ member, const u16* __restrict__ first, const float* __restrict__ path,
    const float* __restrict__ reach, const float* __restrict__ units, const int n,
    const int classes, half_* __restrict__ ranges, half_* __restrict__ rests)
{   // ranges[board][class][sequence][start], and what half precision leaves out, times 2,048
    const int start = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y, b = blockIdx.z;
    if (start >= STARTS) return;
    const size_t at = ((size_t)b * classes + c) * RANGE_WIDTH + start;
    const int j = c < n ? first[(size_t)b * (n + 1) + c] : n;
    const bool some = j < n;
    const unsigned w = some ? words[(size_t)b * n + member[(size_t)b * n + j]] : 0;
    const float here = some ? reach[(size_t)HOLDING(w) * STARTS + start] / units[start] : 0.f;
@PUT@
}
"""

#: The same by pure choices, for every holding.
PURE_RANGES = r"""
extern "C" __global__ void pure_columns@PLAYER@(const unsigned* __restrict__ words,
    const u16* __restrict__ choice, const float* __restrict__ reach,
    const float* __restrict__ units, const int n, const int width, half_* __restrict__ ranges,
    half_* __restrict__ rests@MODEL_ARGUMENTS@)
{   // ranges[board][k][sequence][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y, b = blockIdx.z;
    if (start >= STARTS) return;
    const size_t at = ((size_t)b * width + k) * RANGE_WIDTH + start;
    const bool some = k < n;
    const unsigned w = some ? words[(size_t)b * n + k] : 0;
    const float here = some ? reach[(size_t)HOLDING(w) * STARTS + start] / units[start] : 0.f;
    const u16* chosen = choice + (size_t)b * n * STARTS + start;
@MODEL@@PUT@
}
"""

#: How kernels find the values of terminals on the last street: of a holding, from sums by card; of
#: a class, from products; and on another street.
LAST_COLUMNS_MACROS = r"""
#define range_of(c) (widen(ranges[range_at + (c)])@REST@)
#define class_at_own_fold(node, c) (stake(node) * folds[((c) - @SHARED@) * COLUMN])
#define class_at_fold(node, c) (stake(node) * folds[(@SHOWDOWNS@ - @SHARED@ + (c)) * COLUMN])
"""
LAST_COLUMNS = r"""
    const unsigned word = words[row];
    const int low = LOW(word), high = HIGH(word);
    const float* won = products + ((size_t)b * (width + SUMS) + k) * SHOWDOWN_WIDTH + start;
    const float* sums = products + ((size_t)b * (width + SUMS) + width) * SHOWDOWN_WIDTH + start;
    const float* fold_sums = fold_products + (size_t)b * SUMS * FOLD_WIDTH + start;
    const size_t range_at = ((size_t)b * classes + class_of[row]) * RANGE_WIDTH + start;
"""
LAST_COLUMNS_ARGUMENTS = """const float* __restrict__ products,
    const float* __restrict__ fold_products, const half_* __restrict__ ranges,
    const half_* __restrict__ rests, const u16* __restrict__ class_of,
    const float* __restrict__ units, const float* __restrict__ payoff, const int width,
    const int classes"""
CLASS_COLUMNS_ARGUMENTS = """const float* __restrict__ products,
    const float* __restrict__ fold_products, const u16* __restrict__ class_first,
    const float* __restrict__ units, const float* __restrict__ payoff, const int classes"""

#: Columns of a street without showdowns: the sums need no order.
FOLDS = r"""
extern "C" __global__ void @NAME@_by_card(const unsigned* __restrict__ words,
    const u16* __restrict__ position, const float* __restrict__ path,
    const u16* __restrict__ choice, const float* __restrict__ reach,
    const float* __restrict__ payoff, const int n, float* __restrict__ by_card)
{   // by_card[column][card][start]: the opponent's reach of holdings with a card, times the payoff
    const int start = blockIdx.x * blockDim.x + threadIdx.x, card = blockIdx.y, column = blockIdx.z;
    if (start >= STARTS) return;
    const float* y = reach + start;
    const u16* chosen = choice + start;
    float total = 0.f;
    for (int other = 0; other < @CARDS@; ++other) {
        if (other == card) continue;
        const int high_ = card > other ? card : other, low_ = card > other ? other : card;
        const int h = high_ * (high_ - 1) / 2 + low_, k = position[h];
        if (k == NO_HOLDING) continue;
        const unsigned w = words[k];
        const float here = y[(size_t)h * STARTS];
@BY_COLUMN@
    }
    by_card[((size_t)column * @CARDS@ + card) * STARTS + start] = total;
}

extern "C" __global__ void @NAME@(const unsigned* __restrict__ words,
    const float* __restrict__ path, const u16* __restrict__ choice,
    const float* __restrict__ reach, const float* __restrict__ payoff, const int n,
    const float* __restrict__ by_card, float* __restrict__ out)
{   // out[k][column][start] on a street without showdowns
    const int start = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y, column = blockIdx.z;
    if (start >= STARTS) return;
    const float* y = reach + start;
    const u16* chosen = choice + start;
    const unsigned w = words[k];
    const int h = HOLDING(w);
    const float here = y[(size_t)h * STARTS];
    const float* sums = by_card + (size_t)column * @CARDS@ * STARTS + start;
    float total = 0.f, all = 0.f;
    for (int card = 0; card < @CARDS@; ++card) all += sums[(size_t)card * STARTS];
    total = 0.5f * all - sums[(size_t)LOW(w) * STARTS] - sums[(size_t)HIGH(w) * STARTS];
@BY_COLUMN@
    out[((size_t)k * @COLUMNS@ + column) * STARTS + start] = total;
}
"""

#: A best response.
BEST = r"""
extern "C" __global__ void best@PLAYER@(@ARGUMENTS@,
    const unsigned* __restrict__ words, const float* __restrict__ below,
    const int* __restrict__ below_start, const int starts_below, const float scale, const int n,
    u16* __restrict__ choice, float* __restrict__ value)
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

#: Values by a policy, and the update of the tables.
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

extern "C" __global__ void update@PLAYER@(const float* __restrict__ action_values,
    const float* __restrict__ own_reaches, const float* __restrict__ policy,
    const float* __restrict__ path, const int chunks, const double regrets,
    const double averages, const int plus, TABLE* __restrict__ regret,
    TABLE* __restrict__ strategy_sum)
{   // r(I, a) += v(I, a) - sum over b of policy(b) v(I, b); s += weight * own reach * policy
    const int start = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)row * STARTS + start;
    double sum[@ACTIONS@], reach = 0.0;
    for (int a = 0; a < @ACTIONS@; ++a) sum[a] = 0.0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        for (int a = 0; a < @ACTIONS@; ++a)
            sum[a] += action_values[((size_t)chunk * @ACTIONS@ + a) * PLANE + at];
        reach += own_reaches[(size_t)chunk * PLANE + at];
    }
    double mean, weight, next;
@UPDATE@
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

#: Regrets of the adversary in the trunk are shrunk to the mean regrets of buckets (`trunk.py`).
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

#: Reach at the starts of the next street.
DOWN = r"""
extern "C" __global__ void down_policy(const float* __restrict__ reach,
    const float* __restrict__ path, const u16* __restrict__ rows, const int* __restrict__ above,
    const int* __restrict__ sequence, const int starts_below, float* __restrict__ out)
{   // reach after the onward ends, by the policy of row `rows[holding]`
    const int s = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (s >= starts_below) return;
    const int start = above[s], row = rows[h];
    out[(size_t)h * starts_below + s] = row == NO_HOLDING ? 0.f : reach[(size_t)h * STARTS + start]
        * path[((size_t)sequence[s] * ROWS + row) * STARTS + start];
}

extern "C" __global__ void down_choice(const float* __restrict__ reach,
    const u16* __restrict__ choice, const u16* __restrict__ position,
    const int* __restrict__ above, const int* __restrict__ mask, const int* __restrict__ required,
    const int starts_below, float* __restrict__ out)
{   // the same by pure choices
    const int s = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
    if (s >= starts_below) return;
    const int start = above[s], k = position[h];
    float one = 0.f;
    if (k != NO_HOLDING && (choice[(size_t)k * STARTS + start] & mask[s]) == required[s])
        one = reach[(size_t)h * STARTS + start];
    out[(size_t)h * starts_below + s] = one;
}
"""
