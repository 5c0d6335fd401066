import assert from 'node:assert/strict'
import fc from 'fast-check'
import { fixedWindow, slidingLog, slidingWindow } from 'sluice'
import { describe, expect, it } from 'vitest'
import { fixedWindows, type LimitCase, RUNS, series, slidingLogs, slidingWindows, windowCase } from './arbitraries.js'
import { type Answered, admitted, askPure, askStore, inOrder } from './asking.js'
import { estimate } from './exact-model.js'

describe('law 1, fixed window: at most the quota in a window', () => {
  const byEpoch = fixedWindows.filter(({ alignFirst }) => !alignFirst)
  const byFirst = fixedWindows.filter(({ alignFirst }) => alignFirst)

  it('holds for windows that begin on multiples of their length since the epoch', () => {
    fc.assert(
      fc.property(series(byEpoch, { back: false }), (asked) => {
        const { windowUs, quota } = asked.given
        for (const answers of [askPure(asked), askStore(asked)]) {
          for (const units of unitsBy(admitted(answers), ({ us }) => us / windowUs)) assert(units <= quota)
        }
      }),
      RUNS,
    )
  })

  it("holds with align: 'first', where a window begins with the first request after the window before it", () => {
    fc.assert(
      fc.property(series(byFirst, { back: false }), (asked) => {
        const { windowUs, quota } = asked.given
        for (const answers of [askPure(asked), askStore(asked)]) {
          let start: bigint | undefined
          const startOf = ({ us }: Answered) => {
            if (start === undefined || us - start >= windowUs) start = us
            return start
          }
          for (const units of unitsBy(admitted(answers), startOf)) assert(units <= quota)
        }
      }),
      RUNS,
    )
  })

  it('holds on a clock that steps back, where late requests count in the latest window so far', () => {
    fc.assert(
      fc.property(series(byEpoch, { back: true }), (asked) => {
        const { windowUs, quota } = asked.given
        const taken = inOrder(admitted(askPure(asked)))
        for (const units of unitsBy(taken, ({ us }) => us / windowUs)) assert(units <= quota)
      }),
      RUNS,
    )
  })

  it('holds in a store on such a clock, where a new quota comes only when the clock enters a later window', () => {
    fc.assert(
      fc.property(series(byEpoch, { back: true }), (asked) => {
        const { windowUs, quota } = asked.given
        let entered = 0n
        const answers = askStore(asked)
        const stretches = answers.map((answer, i) => {
          if (i > 0 && answer.us / windowUs > answers[i - 1].us / windowUs) entered++
          return { ...answer, us: entered }
        })
        for (const units of unitsBy(admitted(stretches), ({ us }) => us)) assert(units <= quota)
      }),
      RUNS,
    )
  })

  it('lets twice the quota pass within 2 ms around a boundary', () => {
    const given = windowCase(fixedWindow({ quota: 100, window: '1m' }), 100, 60_000_000n, 1, 'epoch')
    const boundaryUs = 60_000_000n * 29_083_335n
    expect(unitsAround(given, boundaryUs)).toBe(200n)
  })
})

describe('law 1, sliding log: at most the quota in any window', () => {
  it('holds for any half-open window that ends with an admitted request', () => {
    fc.assert(
      fc.property(series(slidingLogs, { back: false }), (asked) => {
        expectNoFullWindow(asked.given, admitted(askPure(asked)))
        expectNoFullWindow(asked.given, admitted(askStore(asked)))
      }),
      RUNS,
    )
  })

  it('holds on a clock that steps back', () => {
    fc.assert(
      fc.property(series(slidingLogs, { back: true }), (asked) => {
        expectNoFullWindow(asked.given, inOrder(admitted(askPure(asked))))
      }),
      RUNS,
    )
  })

  it('lets one quota pass around a boundary of the epoch', () => {
    const given = windowCase(slidingLog({ quota: 100, window: '1m' }), 100, 60_000_000n, 1, 'epoch')
    expect(unitsAround(given, 60_000_000n * 29_083_335n)).toBe(100n)
  })
})

describe('law 1, sliding window: the weighted estimate never exceeds the quota', () => {
  it('holds for any number of slices, at any start of a window', () => {
    fc.assert(
      fc.property(series(slidingWindows, { back: false }), (asked) => {
        expectEstimate(asked.given, admitted(askPure(asked)), 0n)
        expectEstimate(asked.given, admitted(askStore(asked)), 0n)
      }),
      RUNS,
    )
  })

  it('holds on a clock that steps back', () => {
    fc.assert(
      fc.property(series(slidingWindows, { back: true }), (asked) => {
        expectEstimate(asked.given, inOrder(admitted(askPure(asked))), 0n)
      }),
      RUNS,
    )
  })

  it('holds to within a microsecond if quota times window is more than float64 can count', () => {
    const huge = fc
      .record({
        quota: fc.integer({ min: 1_000_000, max: 10 ** 15 }),
        window: fc.constantFrom('1m', '1h', '1d', '30d'),
        slices: fc.constantFrom(1, 3, 10, 100),
      })
      .map(({ quota, window, slices }) =>
        windowCase(slidingWindow({ quota, window, slices }), quota, LENGTHS_US[window], slices, 'epoch'),
      )
    fc.assert(
      fc.property(series(huge, { back: false }), (asked) => {
        expectEstimate(asked.given, admitted(askPure(asked)), 1n)
      }),
      RUNS,
    )
  })

  it('lets one quota pass around a boundary of a slice', () => {
    const given = windowCase(slidingWindow({ quota: 100, window: '1m' }), 100, 60_000_000n, 1, 'epoch')
    expect(unitsAround(given, 60_000_000n * 29_083_335n)).toBe(100n)
  })
})

const LENGTHS_US: Readonly<Record<string, bigint>> = {
  '1m': 60_000_000n,
  '1h': 3_600_000_000n,
  '1d': 86_400_000_000n,
  '30d': 2_592_000_000_000n,
}

/** How many of 400 requests are admitted, half of them 1 ms before a time and half 1 ms after it. */
function unitsAround(given: LimitCase, us: bigint): bigint {
  const asks = Array.from({ length: 400 }, (_, i) => {
    const atUs = i < 200 ? us - 1_000n : us + 1_000n
    return { us: atUs, nowMs: Number(atUs) / 1000, cost: 1 }
  })
  return unitsIn(admitted(askStore({ given, asks })))
}

function unitsIn(taken: readonly Answered[]): bigint {
  return taken.reduce((sum, { cost }) => sum + BigInt(cost), 0n)
}

function unitsBy(taken: readonly Answered[], part: (answer: Answered) => bigint): readonly bigint[] {
  const units = new Map<bigint, bigint>()
  for (const answer of taken) {
    const id = part(answer)
    units.set(id, (units.get(id) ?? 0n) + BigInt(answer.cost))
  }
  return [...units.values()]
}

function expectNoFullWindow({ windowUs, quota }: LimitCase, taken: readonly Answered[]): void {
  for (const { us } of taken) {
    const inside = taken.filter((other) => other.us <= us && us - other.us < windowUs)
    assert(unitsIn(inside) <= quota)
  }
}

/** Checks the estimate over all admitted units after every admitted request, `slackUs` later. */
function expectEstimate(given: LimitCase, taken: readonly Answered[], slackUs: bigint): void {
  const history = taken.map(({ us, cost }) => ({ us, cost: BigInt(cost) }))
  for (const [i, { us }] of history.entries()) {
    const used = estimate(given, history.slice(0, i + 1), us + slackUs)
    assert(used <= given.quota * given.windowUs, `the estimate exceeds the quota after request ${i}`)
  }
}
