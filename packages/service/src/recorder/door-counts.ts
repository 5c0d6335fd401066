import { DurationHistogram, type DurationReading, type PrometheusText } from 'sluice/metrics'

const CLASSES = ['aborted', '1xx', '2xx', '3xx', '4xx', '5xx']
/** Upper bounds of the sizes of batches. */
const SIZES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

/** What came through one door. */
class DoorCount {
  readonly classes = new Float64Array(CLASSES.length)
  readonly durations = new DurationHistogram()
  /** By bound, then larger ones, then the sum of all sizes. */
  readonly sizes = new Float64Array(SIZES.length + 2)
}

/** See `DoorCounts.read`. */
export interface DoorReading {
  readonly classes: readonly number[]
  readonly durations: DurationReading
}

/** Counts requests by door and class of status, and the sizes of batches. Allocates only when a door is new. */
export class DoorCounts {
  readonly #doors = new Map<string, DoorCount>()

  /** A request is over. `status` 0 means that the client went away before the answer began. */
  answered(door: string, status: number, ms: number): void {
    const count = this.#of(door)
    count.classes[Math.trunc(status / 100)]++
    count.durations.record(ms)
  }

  /** A request with `size` questions came. */
  batch(door: string, size: number): void {
    const { sizes } = this.#of(door)
    let bucket = 0
    while (bucket < SIZES.length && size > SIZES[bucket]) bucket++
    sizes[bucket]++
    sizes[sizes.length - 1] += size
  }

  /** What came through a door: how many requests by the first digit of their status, and how long they took. */
  read(door: string): DoorReading {
    const { classes, durations } = this.#of(door)
    return { classes: [...classes], durations: durations.read() }
  }

  write(text: PrometheusText, connections: number): void {
    text.metric('sluice_http_connections', 'gauge', 'Connections that are open now.').sample({}, connections)
    text.metric('sluice_http_requests_total', 'counter', 'Requests by door and class of status.')
    for (const [door, { classes }] of this.#doors)
      for (const [i, status] of CLASSES.entries()) text.sample({ door, status }, classes[i])
    text.metric(
      'sluice_http_request_duration_seconds',
      'histogram',
      'From the head of a request to the end of its answer.',
    )
    for (const [door, { durations }] of this.#doors) text.durations({ door }, durations.read())
    text.metric('sluice_batch_size', 'histogram', 'How many questions a batch had.')
    for (const [door, { sizes }] of this.#doors) if (sizes.some((each) => each > 0)) writeSizes(text, door, sizes)
  }

  #of(door: string): DoorCount {
    let count = this.#doors.get(door)
    if (count === undefined) {
      count = new DoorCount()
      this.#doors.set(door, count)
    }
    return count
  }
}

function writeSizes(text: PrometheusText, door: string, sizes: Float64Array): void {
  let count = 0
  for (const [i, bound] of SIZES.entries()) {
    count += sizes[i]
    text.sample({ door, le: `${bound}` }, count, '_bucket')
  }
  count += sizes[SIZES.length]
  text.sample({ door, le: '+Inf' }, count, '_bucket')
  text.sample({ door }, sizes[sizes.length - 1], '_sum').sample({ door }, count, '_count')
}
