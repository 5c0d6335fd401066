import { fixedWindow, type Level } from '../../../src/index.js'

interface ModelRequest {
  readonly attributes: { readonly user: string | null; readonly plan: string | null }
  readonly cost: number
}

const KEYS = { all: [], user: ['user'], plan: ['plan'] } as const
type LevelName = keyof typeof KEYS
const NAMES = Object.keys(KEYS) as LevelName[]

/** What a policy of three levels, each a window that never ends, says of requests that pass together. */
export class JointModel {
  readonly levels: readonly Level[]
  readonly #quotas: Readonly<Record<LevelName, number>>
  readonly #taken = new Map<string, number>()

  constructor(quotas: Readonly<Record<LevelName, number>>) {
    this.#quotas = quotas
    this.levels = NAMES.map((name) => {
      return { name, key: KEYS[name], limit: fixedWindow({ quota: quotas[name], window: '1d' }) }
    })
  }

  take(requests: readonly ModelRequest[]) {
    const wanted = new Map<string, number>()
    for (const { attributes, cost } of requests)
      for (const { state } of this.#statesOf(attributes)) wanted.set(state, (wanted.get(state) ?? 0) + cost)
    const left = (name: LevelName, state: string) => this.#quotas[name] - (this.#taken.get(state) ?? 0)
    const deniedBy = requests.map(({ attributes }) =>
      this.#statesOf(attributes).flatMap(({ name, state }) =>
        (wanted.get(state) ?? 0) > left(name, state) ? [name] : [],
      ),
    )
    const allowed = deniedBy.every((names) => names.length === 0)
    if (allowed) for (const [state, cost] of wanted) this.#taken.set(state, (this.#taken.get(state) ?? 0) + cost)
    const verdicts = requests.map(({ attributes }, i) => [
      deniedBy[i],
      this.#statesOf(attributes).map(({ name, state }) => left(name, state)),
    ])
    return { allowed, verdicts }
  }

  #statesOf({ user, plan }: ModelRequest['attributes']) {
    const keys = { all: '', user, plan }
    return NAMES.flatMap((name) => (keys[name] === null ? [] : [{ name, state: `${name}/${keys[name]}` }]))
  }
}
