/** A file that stays the same for so long is complete. */
const SETTLE_MS = 50
/** A file that keeps changing is read after so many looks. */
const MOST_LOOKS = 20

/** Waits until files stay the same between two looks: an editor may have written half of one. */
export class SettledFile {
  readonly #stamp: () => Promise<string>
  readonly #onChange: () => void
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #looks = 0
  /** What the last look saw, and what was reported last. */
  #seen: string | undefined
  #reported: string | undefined

  /** `stamp` makes a text that differs if the files differ, and an empty one if they cannot be read. */
  constructor(stamp: () => Promise<string>, onChange: () => void) {
    this.#stamp = stamp
    this.#onChange = onChange
    // The file may have changed since the caller read it.
    this.look()
  }

  look(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.#compare(), SETTLE_MS).unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #compare(): Promise<void> {
    const now = await this.#stamp()
    this.#timer = undefined
    if (this.#isClosed) return
    const isComplete = (now === this.#seen && now !== '') || ++this.#looks >= MOST_LOOKS
    this.#seen = now
    if (now === this.#reported) {
      this.#looks = 0
      return
    }
    if (!isComplete) return this.look()
    this.#looks = 0
    this.#reported = now
    this.#onChange()
  }
}
