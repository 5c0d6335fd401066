import { readdirSync, readFileSync } from 'node:fs'
import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { DurationHistogram, type PrometheusText } from 'sluice/metrics'

/** How often the delay of the event loop is measured. */
const RESOLUTION_MS = 20

/** What an operator asks of any process: CPU, memory, files, and whether the event loop keeps up. */
export class ProcessFigures {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #worstDelays = new DurationHistogram()

  constructor() {
    this.#delay.enable()
  }

  /** The longest delay of the event loop since the last call. Called once a second. */
  takeWorstDelayMs(): number {
    // The histogram measures whole intervals. Without a measurement, its `max` is 0.
    const worstMs = Math.max(0, this.#delay.max / 1e6 - RESOLUTION_MS)
    this.#delay.reset()
    this.#worstDelays.record(worstMs)
    return worstMs
  }

  close(): void {
    this.#delay.disable()
  }

  /** The figures of this thread: its heap and its event loop. Names of general figures are those that dashboards for Node.js know. */
  write(text: PrometheusText): void {
    const { gauge, counter } = writers(text)
    const { heapTotal, heapUsed, external } = process.memoryUsage()
    gauge('nodejs_heap_size_total_bytes', 'Size of the heap.', heapTotal)
    gauge('nodejs_heap_size_used_bytes', 'Used part of the heap.', heapUsed)
    gauge('nodejs_external_memory_bytes', 'Memory of buffers and tables outside the heap.', external)
    const { active, idle } = performance.eventLoopUtilization()
    counter('nodejs_eventloop_active_seconds_total', 'How long the event loop was busy.', active / 1_000)
    counter('nodejs_eventloop_idle_seconds_total', 'How long the event loop waited for work.', idle / 1_000)
    const help = 'The longest delay of the event loop in each second.'
    text.metric('nodejs_eventloop_worst_delay_seconds', 'histogram', help).durations({}, this.#worstDelays.read())
    text.metric('nodejs_version_info', 'gauge', 'The version of Node.js.').sample({ version: process.version }, 1)
  }
}

/** Writes the figures that all threads of the process have in common. */
export function writeProcess(text: PrometheusText): void {
  const { gauge, counter } = writers(text)
  const { user, system } = process.cpuUsage()
  counter('process_cpu_user_seconds_total', 'CPU time of the program.', user / 1e6)
  counter('process_cpu_system_seconds_total', 'CPU time of the system for the program.', system / 1e6)
  counter('process_cpu_seconds_total', 'CPU time.', (user + system) / 1e6)
  gauge('process_start_time_seconds', 'When the process started, in epoch seconds.', performance.timeOrigin / 1_000)
  gauge('process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss())
  const files = openFiles()
  if (files !== undefined) gauge('process_open_fds', 'Open files and connections.', files.open)
  if (files?.most !== undefined) gauge('process_max_fds', 'The most open files and connections.', files.most)
}

function writers(text: PrometheusText) {
  return {
    gauge: (name: string, help: string, value: number) => void text.metric(name, 'gauge', help).sample({}, value),
    counter: (name: string, help: string, value: number) => void text.metric(name, 'counter', help).sample({}, value),
  }
}

/** On Linux; other systems do not tell. */
function openFiles(): { readonly open: number; readonly most: number | undefined } | undefined {
  try {
    const most = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return { open: readdirSync('/proc/self/fd').length, most: most === undefined ? undefined : Number(most) }
  } catch {
    return undefined
  }
}
