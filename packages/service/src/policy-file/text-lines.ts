/**
 * Converts offsets of a text to lines and columns, which count from 1 as in editors. Finding a line takes a binary
 * search, so a file with very many problems is still reported quickly.
 */
export class TextLines {
  readonly #starts: number[] = [0]

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1)
  }

  at(offset: number): { readonly line: number; readonly column: number } {
    let low = 0
    let high = this.#starts.length
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (this.#starts[middle] <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - this.#starts[low] + 1 }
  }
}
