import { setTimeout as pause } from 'node:timers/promises'
import { askService, serviceUrl, URL_OPTION, unreachable } from '../ask-service.js'
import { type Command, type CommandIo, UsageError } from '../command.js'
import { parseOptions } from '../parse-options.js'
import { LiveScreen } from '../top/live-screen.js'
import { readEvents } from '../top/read-events.js'
import { type LiveSummaryWithKeys, type TopView, topText } from '../top/top-text.js'

const OPTIONS = {
  url: URL_OPTION,
  'admin-token': {
    value: 'TEXT',
    help: 'the admin token of the service. Default: SLUICE_ADMIN_TOKEN',
    others: ['token'],
  },
  sort: { value: 'ORDER', help: 'which keys come first: load (default) or denials', choices: ['load', 'denials'] },
  keys: { value: 'N', help: 'how many keys to show, 1 to 200. Default 20' },
  once: { help: 'prints one table and ends' },
  json: { help: 'prints a line of JSON each second; with --once, one line' },
} as const

const RECONNECT_MS = 2_000

export const top: Command = {
  summary: 'shows the busiest keys, denials and rates of a running service, live',
  usage: '[--url URL] [--admin-token TEXT] [--sort load|denials] [--keys N] [--once] [--json]',
  about: `Shows the decisions of a running service, second by second: rates, denials and the keys with the most requests of the
last minute or two. It needs the admin token, because it shows keys. Counts with ≤ are upper bounds.`,
  options: OPTIONS,
  notes: `On a terminal the table stays in place: s changes the order, q ends. Elsewhere a table is printed each second.

Exit code: 0; 1 if the service does not answer or refuses the token; 2 if the command line is wrong.`,
  async run(args, io) {
    const { values, positionals } = parseOptions(args, OPTIONS)
    if (positionals.length > 0) throw new UsageError(`top takes options only, got '${positionals[0].slice(0, 60)}'`)
    const source: Source = {
      url: serviceUrl(values.url, io.env),
      token: values['admin-token'] ?? (io.env.SLUICE_ADMIN_TOKEN || undefined),
      keys: readKeys(values.keys),
    }
    const sort = readSort(values.sort)
    const isLive = io.stdout.isTTY === true && values.once === undefined && values.json === undefined
    if (isLive) await showLive(source, sort, io)
    else await print(source, io, { sort, isOnce: values.once === true, isJson: values.json === true })
    return 0
  },
}

interface Source {
  readonly url: string
  readonly token: string | undefined
  readonly keys: number
}

/** The summaries of a service, one a second, until the stream ends. */
async function* summaries(
  { url, token, keys }: Source,
  signal: AbortSignal,
): AsyncGenerator<LiveSummaryWithKeys, void> {
  const response = await askService(url, `/v1/admin/events?keys=${keys}`, { token, signal })
  if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new UsageError(`${url} is not a Sluice service: it sends no events`, 1)
  try {
    for await (const { name, data } of readEvents(response.body))
      if (name === 'summary') yield JSON.parse(data) as LiveSummaryWithKeys
  } catch (error) {
    if (!signal.aborted) throw unreachable(url, error)
  }
}

/** Prints tables or lines of JSON below each other. */
async function print(
  source: Source,
  io: CommandIo,
  { sort, isOnce, isJson }: { sort: TopView['sort']; isOnce: boolean; isJson: boolean },
): Promise<void> {
  const colours = io.stdout.isTTY === true && !io.env.NO_COLOR
  const view = { url: source.url, sort, keys: source.keys, rows: Infinity, columns: Infinity, colours }
  const ending = new AbortController()
  for await (const summary of summaries(source, ending.signal)) {
    io.stdout.write(
      isJson ? `${JSON.stringify(summary)}\n` : `${topText(summary, view).join('\n')}\n${isOnce ? '' : '\n'}`,
    )
    if (!isOnce) continue
    ending.abort()
    return
  }
  throw new UsageError(`${source.url} ended the connection`, 1)
}

/** Draws the newest summary on the terminal until the user ends it. Connects again if the service went away. */
async function showLive(source: Source, firstSort: TopView['sort'], io: CommandIo): Promise<void> {
  const ending = new AbortController()
  let sort = firstSort
  let summary: LiveSummaryWithKeys | undefined
  let note = `waiting for ${source.url}`
  const draw = () => {
    const { rows, columns } = screen
    const view = { url: source.url, sort, keys: source.keys, rows: rows - 1, columns, colours: !io.env.NO_COLOR }
    screen.show([...(summary === undefined ? [] : topText(summary, view)), note.slice(0, columns)])
  }
  const onKey = (key: string) => {
    if (key !== 's') return
    sort = sort === 'load' ? 'denials' : 'load'
    draw()
  }
  const screen = new LiveScreen(draw, onKey, () => ending.abort())
  try {
    while (!ending.signal.aborted) {
      try {
        for await (summary of summaries(source, ending.signal)) {
          note = 's: other order   q: end'
          draw()
        }
      } catch (error) {
        // Before the first answer, an error is a wrong address or token.
        if (!(error instanceof UsageError) || summary === undefined) throw error
      }
      note = `${source.url} does not answer; asking again`
      draw()
      await pause(RECONNECT_MS, undefined, { signal: ending.signal }).catch(() => {})
    }
  } catch (error) {
    if (!ending.signal.aborted) throw error
  } finally {
    screen.close()
  }
}

function readSort(text = 'load'): TopView['sort'] {
  if (text === 'load' || text === 'denials') return text
  throw new UsageError(`--sort must be load or denials, got '${text.slice(0, 60)}'`)
}

function readKeys(text = '20'): number {
  const keys = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (keys >= 1 && keys <= 200) return keys
  throw new UsageError(`--keys must be a whole number from 1 to 200, got '${text.slice(0, 60)}'`)
}
