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

from functools import cached_property
from typing import Any

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.holdem.betting import NO_FOLD
from counterplay.holdem.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.holdem.walk.exact import Seat
from counterplay.holdem.walk.listing import ON_RIVER, ON_TURN, Listing
from counterplay.holdem.walk.shape import LANES, Street

SHARED = 100_000  # bytes a block may take, so that two of them fit
TILE = 8  # holdings whose columns are put together at once

_SOURCE = r"""
#define N_CARDS 52
#define STARTS @STARTS@
#define COLUMNS @COLUMNS@
#define SHOWN @SHOWN@
#define THREADS (STARTS * COLUMNS)
#define TILE @TILE@
#define HOLDINGS 1326

extern "C" __global__ void __launch_bounds__(THREADS)
walk(const float* __restrict__ y, const float* __restrict__ path,
     const unsigned short* __restrict__ pairs, const unsigned short* __restrict__ codes,
     const unsigned short* __restrict__ own_codes, const int* __restrict__ first_board,
     const int* __restrict__ times, const float* __restrict__ pay,
     const float* __restrict__ policy, const float* __restrict__ below,
     const int* __restrict__ below_start, const unsigned char* __restrict__ cards,
     const int n, const int starts, const int starts_below, const float scale,
     float* __restrict__ out)
{
    extern __shared__ float shared[];
    float* sums = shared;                        // [N_CARDS][THREADS]
    float* tile = shared + N_CARDS * THREADS;    // [TILE][THREADS]
    const int tid = threadIdx.x, column = tid % COLUMNS, turn = blockIdx.y;
    const int mine = blockIdx.x * STARTS + tid / COLUMNS;
    const bool there = mine < starts, shows = column < SHOWN;
    const int wide = starts * COLUMNS, at = mine * COLUMNS + column;
    // for putting columns together: a holding of the tile, a start
    const int slot = tid / STARTS, place = tid % STARTS, start = blockIdx.x * STARTS + place;
    const bool joins = slot < TILE && start < starts;
    float pays[@ENDS@];
    if (joins) for (int e = 0; e < @ENDS@; ++e) pays[e] = pay[e * starts + start];
    const float* y_here = y + (size_t)turn * HOLDINGS * starts;

    for (int board = first_board[turn]; board < first_board[turn + 1]; ++board) {
        const unsigned short* pair = pairs + (size_t)board * n;
        const unsigned short* code = codes + (size_t)board * n;
        const unsigned short* own_code = own_codes + (size_t)board * n;
        const float many = times[board];
        for (int card = 0; card < N_CARDS; ++card) sums[card * THREADS + tid] = 0.f;
        float all = 0.f;
        for (int h = 0; h < n; ++h) {
            const int p = pair[h] & 2047;
            const uchar2 c = ((const uchar2*)cards)[p];
            const float reach = there ? y_here[(size_t)p * starts + mine] * path[(size_t)code[h] * wide + at] : 0.f;
            all += reach;
            sums[c.x * THREADS + tid] += reach;
            sums[c.y * THREADS + tid] += reach;
        }
        if (shows) {
            all = -all;
            for (int card = 0; card < N_CARDS; ++card) sums[card * THREADS + tid] = -sums[card * THREADS + tid];
        }
        int filled = 0, from = 0;
        while (from < n) {
            int to = from;
            if (SHOWN) {  // take up a group of equals
                bool last;
                do {
                    const int word = pair[to], p = word & 2047;
                    last = word & 2048;
                    if (shows) {
                        const uchar2 c = ((const uchar2*)cards)[p];
                        const float reach = there ? y_here[(size_t)p * starts + mine] * path[(size_t)code[to] * wide + at] : 0.f;
                        all += reach;
                        sums[c.x * THREADS + tid] += reach;
                        sums[c.y * THREADS + tid] += reach;
                    }
                    ++to;
                } while (!last);
            } else to = min(from + TILE, n);
            for (int h = from; h < to; ++h) {
                const int p = pair[h] & 2047;
                const uchar2 c = ((const uchar2*)cards)[p];
                float others = all - sums[c.x * THREADS + tid] - sums[c.y * THREADS + tid];
                if (!shows && there) others += y_here[(size_t)p * starts + mine] * path[(size_t)code[h] * wide + at];
                tile[filled * THREADS + tid] = others;
                if (++filled == TILE || (h + 1 == to && to == n)) {
                    __syncthreads();
                    const int holding = h + 1 - filled + slot;
                    if (joins && slot < filled) {
                        const float* col = tile + slot * THREADS + place * COLUMNS;
                        const int q = pair[holding] & 2047;
                        const float* own = policy + ((size_t)own_code[holding] * starts + start) * @PLACES@;
@TREE@
                        out[((size_t)turn * HOLDINGS + q) * starts + start] += many * v0;
                    }
                    __syncthreads();
                    filled = 0;
                }
            }
            if (SHOWN && shows) {  // and once more
                for (int h = from; h < to; ++h) {
                    const int p = pair[h] & 2047;
                    const uchar2 c = ((const uchar2*)cards)[p];
                    const float reach = there ? y_here[(size_t)p * starts + mine] * path[(size_t)code[h] * wide + at] : 0.f;
                    all += reach;
                    sums[c.x * THREADS + tid] += reach;
                    sums[c.y * THREADS + tid] += reach;
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

extern "C" __global__ void sum_turns(const float* __restrict__ values, const int* __restrict__ times,
    const int turns, const int size, float* __restrict__ out)
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
            lines.append(f"const float v{k} = pays[{ends[k]}] * col[{int(column)}];")
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
    """A street on the device: s starts, without the lanes that are not in use."""

    def __init__(self, street: Street, player: int, best: bool, seat: Seat, own: Seat, k: int) -> None:
        other, self.cp = 1 - player, cupy()
        self.real = np.flatnonzero(street.node[:, 0].reshape(-1) >= 0)
        self.starts = len(self.real)
        self.shown, gone = int(street.n_shown[other]), int(street.n_gone[other])
        self.columns = self.shown + gone
        parts = [_by_start(seat.gone[k], self.real)]
        if self.shown:
            parts.insert(0, _by_start(seat.shown[k], self.real))
        self.path = self._put(np.concatenate(parts, axis=2))
        self.pay = self._put(street.pay[player][:, street.ends].transpose(1, 0, 2).reshape(
            len(street.ends), -1
        )[:, self.real])  # fmt: skip
        self.policy = self._put(_by_start(own.policy[k], self.real))
        per_start = 4 * self.columns * (52 + TILE)
        self.block = max(1, min(SHARED // per_start, 1024 // self.columns, self.starts))
        self.tile = min(TILE, self.columns)
        self.threads = self.block * self.columns
        marks = {
            "STARTS": self.block,
            "COLUMNS": self.columns,
            "SHOWN": self.shown,
            "TILE": self.tile,
            "ENDS": len(street.ends),
            "PLACES": len(street.player),
            "TREE": tree_code(street, player, best),
        }
        source = _SOURCE
        for name, value in marks.items():
            source = source.replace(f"@{name}@", str(value))
        self.module = self.cp.RawModule(code=source, options=("-std=c++14",))
        self.walk = self.module.get_function("walk")
        self.bytes = 4 * self.threads * (52 + self.tile)
        self.walk.max_dynamic_shared_size_bytes = self.bytes

    def _put(self, array: np.ndarray) -> Any:
        return self.cp.asarray(np.ascontiguousarray(array, dtype=np.float32))

    def run(self, turns: int, arguments: tuple[Any, ...]) -> None:
        blocks = -(-self.starts // self.block)
        self.walk((blocks, turns), (self.threads,), arguments, shared_mem=self.bytes)


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
        self.river = _Betting(river, player, best, seat, own, 3)
        self.turn = _Betting(turn, player, best, seat, own, 2)
        ends = len(turn.onward)
        # the river's start behind end e of a turn's start, both without unused lanes
        number = np.full(river.node.shape[0] * LANES, -1)
        number[self.river.real] = np.arange(self.river.starts)
        group, lane = np.divmod(self.turn.real, LANES)
        self.below = np.array([number[(group * ends + e) * LANES + lane] for e in range(ends)])
        above = np.zeros(self.river.starts, dtype=np.int32)
        for e in range(ends):
            above[self.below[e]] = np.arange(self.turn.starts)
        down = _by_start(seat.path[2], self.turn.real)[:, :, turn.line[other, turn.onward]]
        spread = np.zeros((down.shape[0], self.river.starts), dtype=np.float32)
        for e in range(ends):
            spread[:, self.below[e]] = down[:, :, e]
        self._down, self._above = cp.asarray(spread), cp.asarray(above)
        self._below = cp.asarray(self.below.astype(np.int32))
        self._cards = cp.asarray(HOLDING_CARDS.astype(np.uint8))
        self._renamed = cp.asarray(renamed.astype(np.int16))
        self._scale = np.float32(1.0 / (cards - 8))
        self._nothing = cp.zeros(1, dtype=cp.float32)
        functions = self.river.module.get_function
        self._pass_down, self._even_out = functions("pass_down"), functions("even_out")
        self._sum_turns = functions("sum_turns")

    @cached_property
    def turn_starts(self) -> np.ndarray:
        """Where the turn's starts stand among groups and lanes."""
        return self.turn.real

    def walk(self, listing: Listing, y_turn: np.ndarray) -> np.ndarray:
        """float32[starts of the turn, 1326]: values summed over all turns. `y_turn`: the
        opponent's reach there, [1326, starts]."""
        cp, river, turn = self.cp, self.river, self.turn
        turns, rivers = (int(k) for k in listing.size)
        put = cp.asarray
        y2 = put(np.ascontiguousarray(y_turn, dtype=np.float32))
        codes = put(listing.turn_code[:, :turns])
        y3 = cp.empty((turns, N_HOLDINGS, river.starts), dtype=cp.float32)
        wide = (-(-river.starts // 128), N_HOLDINGS, turns)
        self._pass_down(
            wide, (128,),
            (y2, self._down, codes[0], self._above, np.int32(river.starts), np.int32(turn.starts), y3),
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
        answer: np.ndarray = total.get().reshape(N_HOLDINGS, turn.starts).T
        return answer
