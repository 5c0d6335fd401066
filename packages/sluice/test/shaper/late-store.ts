import type { Answer, AsyncStore, Demand, MemoryStore } from 'sluice'

/** A memory store whose answers come in order when they are let; some are failures. */
export function lateStore(store: MemoryStore, fails: () => boolean) {
  const waiting: (() => void)[] = []
  const later = <Result>(run: () => Result) =>
    new Promise<Result>((resolve, reject) => {
      const isFailure = fails()
      waiting.push(() => {
        try {
          if (isFailure) throw new Error('the store is away')
          resolve(run())
        } catch (error) {
          reject(error)
        }
      })
    })
  const late: AsyncStore = {
    clock: store.clock,
    decide: (demands: readonly Demand[]): Promise<Answer> => later(() => store.decide(demands)),
    peek: (demands) => later(() => store.peek(demands)),
    charge: (demand) => later(() => store.charge(demand)),
    set: (limited, remaining) => later(() => store.set(limited, remaining)),
    refund: (demand, taken) => later(() => store.refund(demand, taken)),
    reset: (name, key) => later(() => store.reset(name, key)),
    block: (name, key, durationUs) => later(() => store.block(name, key, durationUs)),
  }
  /** Lets so many answers arrive. */
  const answer = (count = Infinity) => {
    for (let i = 0; i < count && waiting.length > 0; i++) waiting.shift()?.()
  }
  return { late, answer, isWaiting: () => waiting.length > 0 }
}
