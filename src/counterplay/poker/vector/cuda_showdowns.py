"""CUDA source of showdowns and folds: matrices of weaker and of disjoint holdings, ranges, and the
values of terminals from their products.

Three layouts, because what is summed differs. Public chance sampling multiplies classes by classes,
with payoffs in the ranges, since it needs no single holding (`MEETINGS`, `SPREAD`). Exact values
need every holding against classes of the opponent: folds by inclusion-exclusion over cards, in two
parts of half precision (`EXACT_SHOWDOWNS`). CFR-BR needs both ways, classes against a best response
of holdings and holdings against classes, in units of the largest reach (`MATRICES` and the ranges);
on streets without showdowns, where sums need no order, it has none of the matrices (`FOLDS`).
"""

from __future__ import annotations

WIDEN = r"""
__device__ inline float widen(const unsigned short value)
{
#ifdef __CUDACC__
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value));
    return wide;
#else
    return value < 0x400 ? value * 5.9604644775390625e-8f
        : __uint_as_float(((unsigned)value << 13) + 0x38000000u);
#endif
}
"""

#: Numbers in half precision: from 0 to 2,048, truncated, and as sums of two; what classes win.
HALVES = r"""
__device__ inline half_ halve(const float value)
{   // a number from 0 to 2,048 in half precision, truncated
    return value < 6.103515625e-5f ? (half_)(value * 16777216.f)
        : (half_)((__float_as_uint(value) >> 13) - 0x1c000u);
}

__device__ inline void split(half_* out, const size_t at, const size_t rest, const float value)
{   // as the sum of two half-precision numbers, the second multiplied by 2,048
    const float rough = value < 6.103515625e-5f ? (int)(value * 16777216.f) / 16777216.f
        : __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    out[at] = halve(rough);
    out[at + rest] = halve((value - rough) * 2048.f);
}

__device__ inline half_ nearest_half(const float value)
{   // a number from 0 to 65,504, to the nearest
    return value < 6.103515625e-5f ? (half_)(value * 16777216.f + 0.5f)
        : (half_)((__float_as_uint(value) + 0x1000u >> 13) - 0x1c000u);
}

__device__ inline void put_twice(half_* out, const size_t at, const size_t rest, const float number)
{   // once for each part of `split`; an integer from -2,048 to 2,048 is exact
    const half_ sign = number < 0.f ? 0x8000 : 0;
    const half_ size = nearest_half(fabsf(number));
    out[at] = sign | size;
    out[at + rest] = sign | nearest_half(widen(size) / 2048.f);
}
"""

#: Public chance sampling: matrices of classes, and ranges with payoffs.
MEETINGS = r"""
extern "C" __global__ void meetings(const unsigned* __restrict__ words,
    const unsigned short* __restrict__ first, const int n, const int max_classes, const int classes,
    const int rows, const int single, const int showdown, const float win, half_* __restrict__ out)
{   // holdings of a class that are weaker than a row, times what a win counts, less those that are
    // stronger (on the last street), and those that share no card with it. A row is a class or a
    // single holding.
    const int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, board = blockIdx.z;
    if (c >= classes) return;
    const unsigned* word = words + (size_t)board * n;
    const unsigned short* begin = first + (size_t)board * max_classes;
    const int from = single ? row : begin[row], to = single ? row + 1 : begin[row + 1];
    const int low = begin[c], high = begin[c + 1];
    int weaker = 0, stronger = 0, all = 0;
    for (int h = from; h < to; ++h) {
        const unsigned own = word[h];
        for (int j = low; j < high; ++j) {
            const unsigned other = word[j];
            const int disjoint = DISJOINT(own, other);
            all += disjoint;
            weaker += disjoint * (GROUP(own) > GROUP(other));
            stronger += disjoint * (GROUP(own) < GROUP(other));
        }
    }
    const size_t at = ((size_t)board * rows + row) * (showdown ? 4 : 2) * classes + c;
    if (showdown) put_twice(out, at, classes, win * weaker - stronger);
    put_twice(out, at + (showdown ? 2 * classes : 0), classes, all);
}
"""
SPREAD = r"""
extern "C" __global__ void spread(const float* __restrict__ y, const float* __restrict__ path,
    const float* __restrict__ y_model, const float* __restrict__ path_model, const int mixed,
    const float share, const float share_model, const float* __restrict__ pay,
    const unsigned short* __restrict__ code, const unsigned short* __restrict__ model_code,
    const int model_rows, const int* __restrict__ count, const int max_classes,
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
    const size_t model_from = none ? 0 : model_code[(size_t)board * max_classes + c];
    const float* model = path_model + model_from * STARTS + start;
    const size_t model_plane = (size_t)model_rows * STARTS;
    const size_t row = (size_t)board * 2 * classes + c, double_row = row + (row - c);
    const size_t rest_showdown = (size_t)classes * wide_showdown;
    const size_t rest_fold = (size_t)classes * wide_fold, rest_both = (size_t)classes * wide_both;
#define REACH(end, sequence) pay[(end) * STARTS + start] * (mixed \
    ? share * own * paths[(sequence) * PLANE] \
        + share_model * other * model[(sequence) * model_plane] \
    : own * paths[(sequence) * PLANE])
@SPREAD@
}
"""

#: Exact values: matrices of holdings and classes, with sums by card, and ranges of classes.
EXACT_SHOWDOWNS = r"""
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

#define range_of(c) (widen(ranges[range_at + (c)]) \
    + widen(ranges[range_at + classes * RANGE_WIDTH + (c)]) / 2048.f)
"""

#: Values of terminals to a holding, from products with the opponent's ranges and sums by card.
TERMINALS = r"""
#define stake(node) stake_##node
#define at_showdown(node, c) (stake(node) * won[(c) * COLUMN])
#define met(sums, wide, c, own) (sums[CARDS * wide + (c) * COLUMN] \
    - sums[low * wide + (c) * COLUMN] - sums[high * wide + (c) * COLUMN] + own)
#define at_own_fold(node, c) (stake(node) * met(sums, SHOWDOWN_WIDTH, c, range_of((c) * COLUMN)))
#define at_fold(node, c) (stake(node) * met(fold_sums, FOLD_WIDTH, c, \
    range_of(SHOWDOWN_WIDTH + (c) * COLUMN)))
"""

#: CFR-BR, the last street. Sums are in single precision, ranges in half precision.
MATRICES = r"""
#define CARDS @CARDS@
#define SUMS @SUMS@
#define COLUMN ((size_t)@COLUMN@)
#define SHOWDOWN_WIDTH (@SHOWDOWNS@ * COLUMN)
#define FOLD_WIDTH (@FOLDS@ * COLUMN)
#define RANGE_WIDTH (SHOWDOWN_WIDTH + FOLD_WIDTH)
#define MET_WIDTH ((@SHOWDOWNS@ - @SHARED@ + @FOLDS@) * COLUMN)
#define CHUNK @CHUNK@
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
            const int apart = DISJOINT(own, other);
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
FOLD_COLUMNS = """
    const float* column = columns + row * @COLUMNS@ * STARTS + start;
"""
FOLD_COLUMNS_ARGUMENTS = "const float* __restrict__ columns"

#: The part of the opponent that follows a model, on the last street.
MODEL_ARGUMENTS = """,
    const unsigned* __restrict__ model_words, const float* __restrict__ model_path,
    const float* __restrict__ model_reach"""
MODEL = r"""    const size_t model_at = some ? ROW(model_words[(size_t)b * n + k]) : 0;
    const float followed = some ? model_reach[(size_t)HOLDING(w) * STARTS + start] / units[start]
        : 0.f;
"""

#: Lower bounds of its probabilities: by node and row of the model (`adversary.py`).
BOUNDS = r"""
#define BOUND_PLANE ((size_t)@MODEL_ROWS@ * STARTS)
#define least(node) bounds[((node) - 1) * BOUND_PLANE + bound_at]
"""
BOUND_ARGUMENTS = """,
    const unsigned* __restrict__ model_words, const float* __restrict__ bounds"""
BOUND_AT = "    const size_t bound_at = ROW(model_words[@ROW@]) * STARTS + start;\n"

#: Columns of a street without showdowns.
FOLDS = r"""
extern "C" __global__ void @NAME@_by_card(const unsigned* __restrict__ words,
    const u16* __restrict__ position, const float* __restrict__ path,
    const u16* __restrict__ choice, const float* __restrict__ reach,
    const float* __restrict__ payoff, const int n, float* __restrict__ by_card@MORE@)
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
    const float* __restrict__ by_card, float* __restrict__ out@MORE@)
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
