/** Each makes the server answer, and costs the client nearly nothing. Clients send a few of each in a connection's life. */
const PINGS_A_SECOND = 1_000
const SETTINGS_A_SECOND = 100

/** Counts the PING and SETTINGS frames of one connection, a second at a time. */
export class SessionBudget {
  #second = 0
  #pings = 0
  #settings = 0

  /** May the connection send another PING? */
  ping(nowMs: number): boolean {
    this.#turn(nowMs)
    return ++this.#pings <= PINGS_A_SECOND
  }

  /** May the connection send other SETTINGS? */
  settings(nowMs: number): boolean {
    this.#turn(nowMs)
    return ++this.#settings <= SETTINGS_A_SECOND
  }

  #turn(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000)
    if (second === this.#second) return
    this.#second = second
    this.#pings = 0
    this.#settings = 0
  }
}
