import { eventText } from '../doors/event-streams.js'
import type { KeyMask } from './key-mask.js'
import type { LiveKey, LiveRequest, LiveTopKeys } from './live-events.js'
import type { LiveNews } from './live-news.js'
import type { RecentRequest } from './recent-requests.js'

/** How one client sees the news. */
export interface LiveView {
  /** May it see keys? */
  readonly isAdmin: boolean
  /** The level whose top keys it watches, or `ALL_LEVELS`. */
  readonly level: string
}

/** Attributes whose values are no secret: they are the same for all clients. */
export const OPEN_ATTRIBUTES: readonly string[] = ['method', 'path']

/** The events of the news as texts. Clients with the same view are sent the same text, which is made once. */
export class NewsTexts {
  readonly #news: LiveNews
  readonly #mask: KeyMask
  readonly #texts = new Map<string, string>()

  constructor(news: LiveNews, mask: KeyMask) {
    this.#news = news
    this.#mask = mask
  }

  textFor({ isAdmin, level }: LiveView): string {
    const view = `${isAdmin} ${level}`
    let text = this.#texts.get(view)
    if (text === undefined) {
      text = this.#eventsFor(isAdmin, level)
      this.#texts.set(view, text)
    }
    return text
  }

  #eventsFor(isAdmin: boolean, level: string): string {
    const { levels, second, store, keys = [], requests, demo, policy } = this.#news
    const top = keys.find(({ of }) => of === level)?.top
    const mask = isAdmin ? (text: string) => text : (text: string) => this.#mask.mask(text)
    return [
      levels === undefined ? '' : eventText('levels', JSON.stringify(levels)),
      second === undefined ? '' : eventText('frame', second),
      store === undefined ? '' : eventText('store', JSON.stringify(store)),
      top === undefined ? '' : eventText('keys', JSON.stringify(maskedTop(top, mask))),
      requests === undefined ? '' : eventText('requests', JSON.stringify(requests.map((each) => told(each, mask)))),
      policy === undefined ? '' : eventText('policy', JSON.stringify(policy)),
      demo === undefined ? '' : eventText('demo', JSON.stringify(demo)),
    ].join('')
  }
}

type Mask = (text: string) => string

function maskedTop({ sinceMs, byLoad, byDenials }: LiveTopKeys, mask: Mask): LiveTopKeys {
  const masked = (keys: readonly LiveKey[]) => keys.map((each) => ({ ...each, key: mask(each.key) }))
  return { sinceMs, byLoad: masked(byLoad), byDenials: masked(byDenials) }
}

function told({ attributes, ...others }: RecentRequest, mask: Mask): LiveRequest {
  const texts = Object.entries(attributes).map(([name, value]) => {
    const text = typeof value === 'object' ? value.join(', ') : `${value}`
    return [name, OPEN_ATTRIBUTES.includes(name) ? text : mask(text)]
  })
  return { ...others, attributes: Object.fromEntries(texts) }
}
