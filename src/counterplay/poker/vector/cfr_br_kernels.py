"""Templates of the CUDA kernels of CFR-BR; `cfr_br_source.py` fills in the @MARKS@.

Arrays have the starts of the street last, so that neighbouring threads read neighbouring numbers. A
holding on a board is a word: both cards, and its row.
"""

#: Regret matching, and values by holding.
COMMON = r"""
#define TABLE @TABLE@
#define STARTS @STARTS@
#define ROWS ((size_t)@ROWS@)
#define HOLDINGS @HOLDINGS@
#define PLANE (ROWS * STARTS)
#define NO_HOLDING 65535
#define LOW(word) ((word) & 63)
#define HIGH(word) ((word) >> 6 & 63)
#define ROW(word) ((size_t)((word) >> 12))
#define HOLDING(word) (HIGH(word) * (HIGH(word) - 1) / 2 + LOW(word))
typedef unsigned short u16;

extern "C" __global__ void match_regrets(const TABLE* __restrict__ regret,
    float* __restrict__ policy, float* __restrict__ path0, float* __restrict__ path1)
{   // regret matching, and own action sequences' probabilities: [node or sequence][row][start]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)row * STARTS + start;
    path0[at] = 1.f;
    path1[at] = 1.f;
@MATCH@
}

extern "C" __global__ void pack_path(const float* __restrict__ path, const int sequences,
    u16* __restrict__ out)
{   // probabilities in steps of 1 / 65535
    const int start = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (start >= STARTS) return;
    const size_t at = (size_t)row * STARTS + start;
    for (int q = 0; q < sequences; ++q)
        out[q * PLANE + at] = (u16)(path[q * PLANE + at] * 65535.f + 0.5f);
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

#: All columns of a street with showdowns.
COLUMNS = r"""
extern "C" __global__ void @NAME@(const unsigned* __restrict__ words,
    const u16* __restrict__ order, const float* __restrict__ path,
    const u16* __restrict__ choice, const float* __restrict__ reach,
    const float* __restrict__ payoff, const int n, float* __restrict__ out)
{   // out[board][k][column][start]; holdings weakest first. They are traversed twice, those of
    // equal strength in opposite orders (`order`), so that they cancel. Sums by card are in shared
    // memory; each thread has its own.
    __shared__ float showdowns[@CARDS@][@THREADS@], folds[@CARDS@][@THREADS@];
    const int start = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y, b = blockIdx.z;
    const int own = threadIdx.x;
    if (start >= STARTS) return;
    const unsigned* word = words + (size_t)b * n;
    const u16* reversed = order + (size_t)b * n;
    const float* y = reach + start;
    const u16* chosen = choice + (size_t)b * n * STARTS + start;
    float* to = out + ((size_t)b * n * @COLUMNS@ + column) * STARTS + start;
    for (int card = 0; card < @CARDS@; ++card) showdowns[card][own] = folds[card][own] = 0.f;
    float all_showdowns = 0.f, all_folds = 0.f;
@PARTS@
}
"""

#: One of its columns; lines and blocks with @S@ belong to its showdown, with @F@ to its fold.
COLUMN = r"""
    if (column == @COLUMN@) {
        @S@const float p = payoff[(size_t)@SHOWDOWN@ * STARTS + start];
        @F@const float q = payoff[(size_t)@FOLD@ * STARTS + start];
        #pragma unroll 4
        for (int k = 0; k < n; ++k) {
            const unsigned w = word[k];
            const int low = LOW(w), high = HIGH(w), h = HOLDING(w);
            const float here = y[(size_t)h * STARTS];
            @S@{
                const float one = @SHOWDOWN_REACH@;
                const float a = showdowns[low][own], b = showdowns[high][own];
                to[(size_t)k * @COLUMNS@ * STARTS] = all_showdowns - a - b;
                showdowns[low][own] = a + one;
                showdowns[high][own] = b + one;
                all_showdowns += one;
            }
            @F@{
                const float one = @FOLD_REACH@;
                folds[low][own] += one;
                folds[high][own] += one;
                all_folds += one;
            }
        }
        @S@for (int card = 0; card < @CARDS@; ++card) showdowns[card][own] = -showdowns[card][own];
        @S@all_showdowns = -all_showdowns;
        #pragma unroll 4
        for (int j = 0; j < n; ++j) {
            const int k = reversed[j];
            const unsigned w = word[k];
            const int low = LOW(w), high = HIGH(w), h = HOLDING(w);
            const float here = y[(size_t)h * STARTS];
            float total = 0.f;
            @S@{
                const float one = @SHOWDOWN_REACH@;
                const float a = showdowns[low][own], b = showdowns[high][own];
                total = p * (to[(size_t)k * @COLUMNS@ * STARTS] + all_showdowns - a - b - one);
                showdowns[low][own] = a + one;
                showdowns[high][own] = b + one;
                all_showdowns += one;
            }
            @F@total += q * (all_folds - folds[low][own] - folds[high][own] + @FOLD_REACH@);
            to[(size_t)k * @COLUMNS@ * STARTS] = total;
        }
    }
"""

#: The same in one ordered traversal, two starts a thread: values are written once, none is read.
GROUPED = r"""
extern "C" __global__ void @NAME@(const unsigned* __restrict__ words,
    const u16* __restrict__ group_end, const @PATH@* __restrict__ path,
    const u16* __restrict__ choice, const float* __restrict__ reach,
    const float* __restrict__ payoff, const int n, float* __restrict__ out)
{   // out[board][k][column][start]; holdings weakest first; group_end[k]: where those stronger than
    // holding k begin. Sums by card are in shared memory; each thread has its own.
    __shared__ float showdowns[@CARDS@][2][@THREADS@], folds[@CARDS@][2][@THREADS@];
    const int first = blockIdx.x * 2 * blockDim.x + threadIdx.x, own = threadIdx.x;
    const int column = blockIdx.y, b = blockIdx.z;
    if (first >= STARTS) return;
    const bool two = first + blockDim.x < STARTS;
    const int start[2] = {first, two ? first + (int)blockDim.x : first};
    const unsigned* word = words + (size_t)b * n;
    const u16* ends = group_end + (size_t)b * n;
    const u16* choices = choice + (size_t)b * n * STARTS;
    float* to = out + ((size_t)b * n * @COLUMNS@ + column) * STARTS;
    for (int card = 0; card < @CARDS@; ++card)
        for (int u = 0; u < 2; ++u) showdowns[card][u][own] = folds[card][u][own] = 0.f;
    float all_showdowns[2] = {0.f, 0.f}, all_folds[2] = {0.f, 0.f};
@PARTS@
}
"""

#: One of its columns. The sums of showdowns begin with minus the reach of all holdings and gain
#: twice that of the weaker ones, once that of equal ones.
GROUPED_COLUMN = r"""
    if (column == @COLUMN@) {
        #pragma unroll 4
        for (int k = 0; k < n; ++k) {
            const unsigned w = word[k];
            const int low = LOW(w), high = HIGH(w), h = HOLDING(w);
            #pragma unroll
            for (int u = 0; u < 2; ++u) {
                const float here = reach[(size_t)h * STARTS + start[u]];
                @S@{
                    const float one = @SHOWDOWN_REACH@;
                    showdowns[low][u][own] -= one;
                    showdowns[high][u][own] -= one;
                    all_showdowns[u] -= one;
                }
                @F@{
                    const float one = @FOLD_REACH@;
                    folds[low][u][own] += one;
                    folds[high][u][own] += one;
                    all_folds[u] += one;
                }
            }
        }
        for (int begin = 0, end; begin < n; begin = end) {
            end = ends[begin];
            @S@{
                #pragma unroll 4
                for (int k = begin; k < end; ++k) {
                    const unsigned w = word[k];
                    const int low = LOW(w), high = HIGH(w), h = HOLDING(w);
                    #pragma unroll
                    for (int u = 0; u < 2; ++u) {
                        const float here = reach[(size_t)h * STARTS + start[u]];
                        const float one = @SHOWDOWN_REACH@;
                        showdowns[low][u][own] += one;
                        showdowns[high][u][own] += one;
                        all_showdowns[u] += one;
                    }
                }
            }
            #pragma unroll 4
            for (int k = begin; k < end; ++k) {
                const unsigned w = word[k];
                const int low = LOW(w), high = HIGH(w);
                #pragma unroll
                for (int u = 0; u < 2; ++u) {
                    float total = 0.f;
                    @S@{
                        const float p = payoff[(size_t)@SHOWDOWN@ * STARTS + start[u]];
                        total = p * (all_showdowns[u] - showdowns[low][u][own]
                            - showdowns[high][u][own]);
                    }
                    @F@{
                        const int h = HOLDING(w);
                        const float here = reach[(size_t)h * STARTS + start[u]];
                        const float q = payoff[(size_t)@FOLD@ * STARTS + start[u]];
                        total += q * (all_folds[u] - folds[low][u][own] - folds[high][u][own]
                            + @FOLD_REACH@);
                    }
                    to[(size_t)k * @COLUMNS@ * STARTS + start[u]] = total;
                }
            }
            @S@{
                #pragma unroll 4
                for (int k = begin; k < end; ++k) {
                    const unsigned w = word[k];
                    const int low = LOW(w), high = HIGH(w), h = HOLDING(w);
                    #pragma unroll
                    for (int u = 0; u < 2; ++u) {
                        const float here = reach[(size_t)h * STARTS + start[u]];
                        const float one = @SHOWDOWN_REACH@;
                        showdowns[low][u][own] += one;
                        showdowns[high][u][own] += one;
                        all_showdowns[u] += one;
                    }
                }
            }
        }
    }
"""

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
extern "C" __global__ void best@PLAYER@(const float* __restrict__ columns,
    const unsigned* __restrict__ words, const float* __restrict__ below,
    const int* __restrict__ below_start, const int starts_below, const float scale, const int n,
    u16* __restrict__ choice, float* __restrict__ value)
{   // the maximum at the player's nodes: value[board][k][start], and the action that attains it
    const int start = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y, b = blockIdx.z;
    if (start >= STARTS) return;
    const size_t row = (size_t)b * n + k;
    const float* column = columns + row * @COLUMNS@ * STARTS + start;
    const float* onward = below + (size_t)HOLDING(words[row]) * starts_below;
    unsigned choices = 0;
@TREE@
    value[row * STARTS + start] = v0;
    choice[row * STARTS + start] = choices;
}
"""

#: Values by a policy, and the update of the tables.
VALUE = r"""
extern "C" __global__ void value@PLAYER@(const float* __restrict__ columns,
    const unsigned* __restrict__ words, const u16* __restrict__ member,
    const int* __restrict__ first, const float* __restrict__ policy,
    const float* __restrict__ reach, const float* __restrict__ below,
    const int* __restrict__ below_start, const int starts_below, const float scale,
    const int boards, const int n, const int chunks, float* __restrict__ action_values,
    float* __restrict__ own_reaches, float* __restrict__ value)
{   // values by the player's policy; sums by row of the values of its actions and of its own reach.
    // `member`: positions of each row's holdings on each board, from `first[board][row]` on
    const int start = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, chunk = blockIdx.z;
    if (start >= STARTS) return;
    const size_t at = (size_t)row * STARTS + start;
    float sum[@ACTIONS@], own_reach = 0.f;
    for (int a = 0; a < @ACTIONS@; ++a) sum[a] = 0.f;
@LOAD@
    for (int b = chunk; b < boards; b += chunks) {
        const int* begin = first + (size_t)b * (ROWS + 1) + row;
        for (int j = begin[0]; j < begin[1]; ++j) {
            const size_t at_board = (size_t)b * n + member[(size_t)b * n + j];
            const int h = HOLDING(words[at_board]);
            const float* column = columns + at_board * @COLUMNS@ * STARTS + start;
            const float* onward = below + (size_t)h * starts_below;
@TREE@
@ADD@
            own_reach += reach[(size_t)h * STARTS + start];
            value[at_board * STARTS + start] = v0;
        }
    }
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
