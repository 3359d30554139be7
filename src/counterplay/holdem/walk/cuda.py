"""Exact values on a CUDA device (CuPy): the walk of `exact.py`, all turns and rivers of a flop at
once.

A block takes one turn and some starts of the river's betting, and goes through the rivers of the
turn. Its threads are starts times columns, a column being one of the opponent's lines: with a
showdown, or with a fold. A thread keeps the sums of its column for every card in shared memory and
goes through the holdings, weakest first. What the columns of a holding say is put together by the
betting of the street, written out as straight code. The street before is walked the same way,
without showdowns. Single precision; the flop itself is left to `exact.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.holdem.betting import NO_FOLD
from counterplay.holdem.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.holdem.walk.exact import Seat
from counterplay.holdem.walk.listing import ON_RIVER, ON_TURN, Listing
from counterplay.holdem.walk.shape import LANES, Street

SHARED = 100_000  # bytes a block may take, so that two of them fit
EACH = 4  # starts of a thread
TILE = 8  # holdings whose columns are put together at once

_SOURCE = r"""
#define N_CARDS 52
#define STARTS @STARTS@
#define COLUMNS @COLUMNS@
#define SHOWN @SHOWN@
#define TILE @TILE@
#define EACH @EACH@
#define HOLDINGS 1326

#define BLOCK (STARTS / EACH * COLUMNS)
#define LOW(word) ((word >> 12 & 63) * BLOCK + tid)
#define HIGH(word) ((word >> 18) * BLOCK + tid)

#if EACH == 4
typedef float4 numbers;
__device__ inline numbers times_(const numbers a, const numbers b)
{ return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
__device__ inline numbers plus_(const numbers a, const numbers b)
{ return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ inline numbers minus_(const numbers a, const numbers b)
{ return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
#define NOTHING make_float4(0.f, 0.f, 0.f, 0.f)
#else
typedef float2 numbers;
__device__ inline numbers times_(const numbers a, const numbers b)
{ return make_float2(a.x * b.x, a.y * b.y); }
__device__ inline numbers plus_(const numbers a, const numbers b)
{ return make_float2(a.x + b.x, a.y + b.y); }
__device__ inline numbers minus_(const numbers a, const numbers b)
{ return make_float2(a.x - b.x, a.y - b.y); }
#define NOTHING make_float2(0.f, 0.f)
#endif

#define REACH(h) times_(y_mine[(words[h] & 2047) * quarter], path_mine[seen[h] * wide])
#define ADD(h, reach) { \
    const unsigned word = words[h]; \
    const numbers low = sums[LOW(word)], high = sums[HIGH(word)]; \
    all = plus_(all, reach); \
    sums[LOW(word)] = plus_(low, reach); \
    sums[HIGH(word)] = plus_(high, reach); }

extern "C" __global__ void __launch_bounds__(BLOCK)
walk(const numbers* __restrict__ y, const numbers* __restrict__ path,
     const unsigned short* __restrict__ pairs, const unsigned short* __restrict__ codes,
     const unsigned short* __restrict__ own_codes, const int* __restrict__ first_board,
     const int* __restrict__ times, const float* __restrict__ pay,
     const float* __restrict__ policy, const float* __restrict__ below,
     const int* __restrict__ below_start, const unsigned char* __restrict__ cards,
     const int n, const int starts, const int starts_below, const float scale,
     float* __restrict__ out)
{
    extern __shared__ numbers shared[];
    numbers* sums = shared;                                    // [N_CARDS][BLOCK]
    numbers* tile = sums + N_CARDS * BLOCK;                    // [TILE][COLUMNS][STARTS / EACH]
    unsigned* words = (unsigned*)(tile + TILE * BLOCK);       // [n]: holding, LAST, both cards
    unsigned short* seen = (unsigned short*)(words + n);      // [n]: the opponent's code
    // a thread has one column of EACH starts
    const int tid = threadIdx.x, four = tid % (STARTS / EACH), column = tid / (STARTS / EACH);
    const int turn = blockIdx.y, quarter = starts / EACH, wide = quarter * COLUMNS;
    const int mine = min((int)blockIdx.x * (STARTS / EACH) + four, quarter - 1);
    const bool shows = column < SHOWN;
    const numbers* y_mine = y + (size_t)turn * HOLDINGS * quarter + mine;
    const numbers* path_mine = path + column * quarter + mine;
    // for putting columns together: holdings of the tile, a start
    const int place = tid % STARTS, start = blockIdx.x * STARTS + place;
    const bool joins = tid < BLOCK / STARTS * STARTS && start < starts;
    float pays[@ENDS@];
    for (int e = 0; e < @ENDS@; ++e) pays[e] = joins ? pay[e * starts + start] : 0.f;

    for (int board = first_board[turn]; board < first_board[turn + 1]; ++board) {
        const unsigned short* own_code = own_codes + (size_t)board * n;
        const float many = times[board];
        __syncthreads();
        for (int h = tid; h < n; h += BLOCK) {
            const unsigned word = pairs[(size_t)board * n + h];
            const unsigned char* c = cards + 2 * (word & 2047);
            words[h] = word | c[0] << 12 | c[1] << 18;
            seen[h] = codes[(size_t)board * n + h];
        }
        __syncthreads();
        const numbers nothing = NOTHING;
        for (int card = 0; card < N_CARDS; ++card) sums[card * BLOCK + tid] = nothing;
        numbers all = nothing;
        int h = 0;
        for (; h + 8 <= n; h += 8) {  // many loads at once, since each takes long
            numbers reach[8];
            #pragma unroll
            for (int j = 0; j < 8; ++j) reach[j] = REACH(h + j);
            #pragma unroll
            for (int j = 0; j < 8; ++j) ADD(h + j, reach[j])
        }
        for (; h < n; ++h) { const numbers reach = REACH(h); ADD(h, reach) }
        if (shows) {
            all = minus_(nothing, all);
            for (int card = 0; card < N_CARDS; ++card)
                sums[card * BLOCK + tid] = minus_(nothing, sums[card * BLOCK + tid]);
        }
        int filled = 0, from = 0;
        while (from < n) {
            int to = from;
            if (SHOWN) while (!(words[to++] & 2048));  // a group of equals
            else to = n;
            numbers reach[4];
            if (shows) for (int k = from; k < to; k += 4) {  // take it up
                #pragma unroll
                for (int j = 0; j < 4; ++j) reach[j] = REACH(min(k + j, to - 1));
                #pragma unroll
                for (int j = 0; j < 4; ++j) if (k + j < to) ADD(k + j, reach[j])
            }
            for (int k = from; k < to;) {
                const int chunk = min(4, min(to - k, TILE - filled));
                if (!shows) {
                    #pragma unroll
                    for (int j = 0; j < 4; ++j) reach[j] = REACH(min(k + j, to - 1));
                }
                #pragma unroll
                for (int j = 0; j < 4; ++j) if (j < chunk) {
                    const unsigned word = words[k + j];
                    numbers others = minus_(minus_(all, sums[LOW(word)]), sums[HIGH(word)]);
                    if (!shows) others = plus_(others, reach[j]);
                    tile[((filled + j) * COLUMNS + column) * (STARTS / EACH) + four] = others;
                }
                k += chunk;
                filled += chunk;
                if (filled == TILE || k == n) {
                    __syncthreads();
                    if (joins)
                    for (int slot = tid / STARTS; slot < filled; slot += BLOCK / STARTS) {
                        const int holding = k - filled + slot;
                        const float* col = (const float*)tile + slot * COLUMNS * STARTS + place;
                        const int q = words[holding] & 2047;
                        const float* own = policy
                            + ((size_t)own_code[holding] * starts + start) * @PLACES@;
@TREE@
                        // nobody else adds here: an addition that need not be waited for
                        atomicAdd(out + ((size_t)turn * HOLDINGS + q) * starts + start, many * v0);
                    }
                    __syncthreads();
                    filled = 0;
                }
            }
            if (shows) {  // and once more
                if (to - from <= 4) {
                    #pragma unroll
                    for (int j = 0; j < 4; ++j) if (from + j < to) ADD(from + j, reach[j])
                } else for (int k = from; k < to; k += 4) {
                    #pragma unroll
                    for (int j = 0; j < 4; ++j) reach[j] = REACH(min(k + j, to - 1));
                    #pragma unroll
                    for (int j = 0; j < 4; ++j) if (k + j < to) ADD(k + j, reach[j])
                }
            }
            from = to;
        }
    }
}

extern "C" __global__ void pass_down(const float* __restrict__ y, const float* __restrict__ path,
    const unsigned short* __restrict__ codes, const int* __restrict__ above, const int starts,
    const int starts_above, float* __restrict__ out)
{   // reach behind the turn's ends: [turn][holding][start of the river]
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start < starts)
        out[((size_t)turn * HOLDINGS + p) * starts + start] =
            y[(size_t)p * starts_above + above[start]]
            * path[(size_t)codes[turn * HOLDINGS + p] * starts + start];
}

extern "C" __global__ void even_out(const float* __restrict__ values, const int* __restrict__ kept,
    const int* __restrict__ n_kept, const short* __restrict__ renamed, const int starts,
    float* __restrict__ out)
{   // the mean over renamings that leave the board as it is
    const int start = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y, turn = blockIdx.z;
    if (start >= starts) return;
    float total = 0.f;
    for (int k = 0; k < n_kept[turn]; ++k) {
        const int q = renamed[kept[turn * 24 + k] * HOLDINGS + p];
        total += values[((size_t)turn * HOLDINGS + q) * starts + start];
    }
    out[((size_t)turn * HOLDINGS + p) * starts + start] = total / n_kept[turn];
}

extern "C" __global__ void sum_turns(const float* __restrict__ values,
    const int* __restrict__ times, const int turns, const int size, float* __restrict__ out)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= size) return;
    float total = 0.f;
    for (int t = 0; t < turns; ++t) total += times[t] * values[(size_t)t * size + k];
    out[k] = total;
}
"""


def cupy() -> Any:
    """The library, or a sentence about what is missing."""
    try:
        import cupy as found

        if found.cuda.runtime.getDeviceCount() < 1:
            raise BadParameter("there is no CUDA device; use backend=cpu")
        return found
    except ImportError:
        raise BadParameter(
            "backend=cuda needs CuPy: pip install 'counterplay[gpu]', or use backend=cpu"
        ) from None
    except BadParameter:
        raise
    except Exception as error:  # whatever the driver says
        raise BadParameter(f"no CUDA device can be used ({error}); use backend=cpu") from None


def tree_code(street: Street, player: int, best: bool) -> str:
    """The betting of a street as straight code: `v0` from the columns of a holding."""
    other = 1 - player
    shown = int(street.n_shown[other])
    ends = {int(k): e for e, k in enumerate(street.ends)}
    onward = {int(k): e for e, k in enumerate(street.onward)}
    lines = []
    for k in reversed(range(len(street.player))):
        below = range(int(street.first[k]), int(street.first[k + 1]))
        if k in ends:
            line = int(street.line[other, k])
            show = street.folded[k] == NO_FOLD
            column = street.shown[other, line] if show else shown + street.gone[other, line]
            lines.append(f"const float v{k} = pays[{ends[k]}] * col[{int(column)} * STARTS];")
        elif k in onward:
            where = f"below_start[{onward[k]} * starts + start]"
            at = f"((size_t)turn * HOLDINGS + q) * starts_below + {where}"
            lines.append(f"const float v{k} = scale * below[{at}];")
        elif street.player[k] != player:
            lines.append(f"const float v{k} = {' + '.join(f'v{c}' for c in below)};")
        elif best:
            most = f"v{below[0]}"
            for c in below[1:]:
                most = f"fmaxf({most}, v{c})"
            lines.append(f"const float v{k} = {most};")
        else:
            lines.append(f"const float v{k} = {' + '.join(f'own[{c}] * v{c}' for c in below)};")
    return "\n".join(" " * 24 + line for line in lines)


class _Betting:
    """A street on the device: s starts, without those that the opponent never reaches, and some
    more that are worth nothing, so that they go by four."""

    def __init__(
        self,
        street: Street,
        player: int,
        best: bool,
        seat: Seat,
        own: Seat,
        k: int,
        reached: np.ndarray,
    ) -> None:
        other, self.cp = 1 - player, cupy()
        self.real = np.flatnonzero(reached)
        self.starts = (len(self.real) // 4 + 1) * 4
        shown, gone = int(street.n_shown[other]), int(street.n_gone[other])
        columns = shown + gone
        parts = [_by_start(seat.gone[k], self.real)]
        if shown:
            parts.insert(0, _by_start(seat.shown[k], self.real))
        paths = np.concatenate(parts, axis=2).transpose(0, 2, 1)  # codes, columns, starts
        pay = street.pay[player][:, street.ends].transpose(1, 0, 2).reshape(len(street.ends), -1)
        policy = _by_start(own.policy[k], self.real).transpose(0, 2, 1)
        self.path, self.pay = self._put(paths), self._put(pay[:, self.real])
        self.policy = self.cp.ascontiguousarray(self._put(policy).transpose(0, 2, 1))
        per_start = 4 * columns * (52 + TILE)
        block = min(SHARED // per_start, 1024 // columns * EACH, self.starts) // 4 * 4
        self.threads = block // EACH * columns
        self.blocks = -(-self.starts // block)
        marks = {
            "STARTS": block,
            "COLUMNS": columns,
            "SHOWN": shown,
            "TILE": TILE,
            "EACH": EACH,
            "ENDS": len(street.ends),
            "PLACES": len(street.player),
            "TREE": tree_code(street, player, best),
        }
        source = _SOURCE
        for name, value in marks.items():
            source = source.replace(f"@{name}@", str(value))
        self.module = self.cp.RawModule(code=source, options=("-std=c++14",))
        self.walk = self.module.get_function("walk")
        self.bytes = 4 * block * columns * (52 + TILE) + 6 * ON_TURN
        self.walk.max_dynamic_shared_size_bytes = self.bytes

    def _put(self, array: np.ndarray) -> Any:
        """On the device, with starts added."""
        room = [(0, 0)] * (array.ndim - 1) + [(0, self.starts - array.shape[-1])]
        return self.cp.asarray(np.ascontiguousarray(np.pad(array, room), dtype=np.float32))

    def run(self, turns: int, arguments: tuple[Any, ...]) -> None:
        self.walk((self.blocks, turns), (self.threads,), arguments, shared_mem=self.bytes)


def _reached(streets: tuple[Street, ...], seat: Seat, other: int) -> list[np.ndarray]:
    """bool[groups * LANES] for each street: starts that the opponent reaches with any holding."""
    found = [streets[0].node[:, 0] >= 0]
    for k, street in enumerate(streets[:-1]):
        groups, codes, _ = seat.path[k].shape
        lines = seat.path[k].reshape(groups, codes, -1, LANES).max(axis=1)
        ends = lines[:, street.line[other, street.onward]] > 0.0  # groups, ends, LANES
        if k == 0:
            after = np.zeros(streets[1].node.shape[0] * LANES, dtype=bool)
            after[: ends.shape[1]] = ends[0, :, 0]
            found.append(after.reshape(-1, LANES))
        else:
            found.append((ends & found[k][:, None]).reshape(-1, LANES))
    return [reached.reshape(-1) for reached in found]


def _by_start(path: np.ndarray, real: np.ndarray) -> np.ndarray:
    """[codes, starts, columns] of [groups, codes, columns * LANES]."""
    groups, codes, width = path.shape
    spread = path.reshape(groups, codes, width // LANES, LANES).transpose(1, 0, 3, 2)
    chosen: np.ndarray = spread.reshape(codes, groups * LANES, -1)[:, real]
    return chosen


class DeviceWalk:
    """Turns and rivers of one flop after the other, for one player against a seat."""

    def __init__(
        self,
        streets: tuple[Street, ...],
        player: int,
        best: bool,
        seat: Seat,
        own: Seat,
        renamed: np.ndarray,
        cards: int,
    ) -> None:
        self.cp = cp = cupy()
        other = 1 - player
        turn, river = streets[2], streets[3]
        reached = _reached(streets, seat, other)
        self.river = _Betting(river, player, best, seat, own, 3, reached[3])
        self.turn = _Betting(turn, player, best, seat, own, 2, reached[2])
        ends = len(turn.onward)
        # the river's start behind end e of a turn's start, both without unused lanes
        number = np.full(river.node.shape[0] * LANES, len(self.river.real))  # worth nothing
        number[self.river.real] = np.arange(len(self.river.real))
        group, lane = np.divmod(self.turn.real, LANES)
        self.below = np.array([number[(group * ends + e) * LANES + lane] for e in range(ends)])
        above = np.zeros(self.river.starts, dtype=np.int32)
        for e in range(ends):
            above[self.below[e]] = np.arange(len(self.turn.real))
        above[len(self.river.real) :] = 0
        down = _by_start(seat.path[2], self.turn.real)[:, :, turn.line[other, turn.onward]]
        spread = np.zeros((down.shape[0], self.river.starts), dtype=np.float32)
        for e in range(ends):
            spread[:, self.below[e]] = down[:, :, e]
        spread[:, len(self.river.real) :] = 0.0
        self._down, self._above = cp.asarray(spread), cp.asarray(above)
        room = [(0, 0), (0, self.turn.starts - len(self.turn.real))]
        below = np.pad(self.below, room, constant_values=len(self.river.real))
        self._below = cp.asarray(np.ascontiguousarray(below, dtype=np.int32))
        self._stream = cp.cuda.Stream(non_blocking=True)
        self._cards = cp.asarray(HOLDING_CARDS.astype(np.uint8))
        self._renamed = cp.asarray(np.ascontiguousarray(renamed, dtype=np.int16))
        self._scale = np.float32(1.0 / (cards - 8))
        self._nothing = cp.zeros(1, dtype=cp.float32)
        functions = self.river.module.get_function
        self._pass_down, self._even_out = functions("pass_down"), functions("even_out")
        self._sum_turns = functions("sum_turns")

    def start(self, listing: Listing, y_turn: np.ndarray) -> Any:
        """Begin with all turns and rivers of a flop. `y_turn`: the opponent's reach at the turn's
        starts in use, [1326, starts]."""
        with self._stream:
            return self._start(listing, y_turn)

    def fetch(self, total: Any) -> np.ndarray:
        """float32[starts of the turn in use, 1326]: values summed over all turns."""
        with self._stream:
            answer: np.ndarray = total.get()
        return answer.reshape(N_HOLDINGS, -1).T[: len(self.turn.real)]

    def _start(self, listing: Listing, y_turn: np.ndarray) -> Any:
        cp, river, turn = self.cp, self.river, self.turn
        turns, rivers = (int(k) for k in listing.size)
        put = cp.asarray
        y2 = turn._put(y_turn)
        codes = put(listing.turn_code[:, :turns])
        y3 = cp.empty((turns, N_HOLDINGS, river.starts), dtype=cp.float32)
        wide = (-(-river.starts // 128), N_HOLDINGS, turns)
        self._pass_down(
            wide, (128,),
            (y2, self._down, codes[0], self._above, np.int32(river.starts), np.int32(turn.starts),
             y3),
        )  # fmt: skip
        values = cp.zeros_like(y3)
        river_codes = put(listing.river_code[:, :rivers])
        river.run(turns, (
            y3, river.path, put(listing.river_pair[:rivers]), river_codes[0], river_codes[1],
            put(listing.first_river[: turns + 1]), put(listing.river_times[:rivers]), river.pay,
            river.policy, self._nothing, self._below, self._cards, np.int32(ON_RIVER),
            np.int32(river.starts), np.int32(0), np.float32(0.0), values,
        ))  # fmt: skip
        evened = y3  # which is not needed any more
        kept, n_kept = put(listing.kept[:turns]), put(listing.n_kept[:turns])
        self._even_out(
            wide, (128,), (values, kept, n_kept, self._renamed, np.int32(river.starts), evened)
        )
        y_each = cp.broadcast_to(y2, (turns, *y2.shape)).copy()
        pair = listing.turn_pair[:turns].astype(np.int64)
        found = cp.zeros((turns, N_HOLDINGS, turn.starts), dtype=cp.float32)
        turn_codes = [
            put(np.take_along_axis(listing.turn_code[k, :turns], pair, axis=1)) for k in (0, 1)
        ]
        turn.run(turns, (
            y_each, turn.path, put(listing.turn_pair[:turns]), turn_codes[0], turn_codes[1],
            cp.arange(turns + 1, dtype=cp.int32), cp.ones(turns, dtype=cp.int32), turn.pay,
            turn.policy, evened, self._below, self._cards, np.int32(ON_TURN),
            np.int32(turn.starts), np.int32(river.starts), self._scale, found,
        ))  # fmt: skip
        size = N_HOLDINGS * turn.starts
        total = cp.empty(size, dtype=cp.float32)
        self._sum_turns(
            (-(-size // 256),), (256,),
            (found, put(listing.turn_times[:turns]), np.int32(turns), np.int32(size), total),
        )  # fmt: skip
        return total
