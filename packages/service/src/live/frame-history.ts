/** A frame as JSON. */
export type FrameText = string

const MOST_SECONDS = 300
const MOST_TENS = 360
/** Of each of the two lists. A policy with so many levels that this is too little has a shorter history. */
const MOST_CHARACTERS = 8 * 1024 * 1024

/**
 * The last frames: five minutes by the second, and an hour by ten seconds. They are kept as the texts that clients are sent:
 * a text is needed anyway, and a frame of 1,000 levels, most of them idle, is shorter as text than as numbers.
 */
export class FrameHistory {
  readonly #seconds = new TextRing(MOST_SECONDS)
  readonly #tens = new TextRing(MOST_TENS)

  get seconds(): readonly FrameText[] {
    return this.#seconds.all
  }

  get tens(): readonly FrameText[] {
    return this.#tens.all
  }

  addSecond(frame: FrameText): void {
    this.#seconds.add(frame)
  }

  addTen(frame: FrameText): void {
    this.#tens.add(frame)
  }
}

class TextRing {
  readonly all: string[] = []
  readonly #most: number
  #characters = 0

  constructor(most: number) {
    this.#most = most
  }

  add(text: string): void {
    this.all.push(text)
    this.#characters += text.length
    while (this.all.length > this.#most || this.#characters > MOST_CHARACTERS)
      this.#characters -= (this.all.shift() as string).length
  }
}
