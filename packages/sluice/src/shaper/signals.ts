interface Followed {
  readonly followers: Set<() => void>
  readonly listener: () => void
}

/**
 * Who wants to know of an abort. Each signal has one listener, however many follow it: Node.js warns of more than ten, and
 * takes a look at all of them to remove one.
 */
export class Signals {
  readonly #followed = new Map<AbortSignal, Followed>()

  /** Calls `aborted` once, unless the function that is given back was called before. */
  follow(signal: AbortSignal, aborted: () => void): () => void {
    const { followers, listener } = this.#followed.get(signal) ?? this.#listenTo(signal)
    followers.add(aborted)
    return () => {
      if (!followers.delete(aborted) || followers.size > 0) return
      signal.removeEventListener('abort', listener)
      this.#followed.delete(signal)
    }
  }

  #listenTo(signal: AbortSignal): Followed {
    const followers = new Set<() => void>()
    const listener = () => {
      for (const aborted of followers) aborted()
    }
    signal.addEventListener('abort', listener)
    const followed = { followers, listener }
    this.#followed.set(signal, followed)
    return followed
  }
}
