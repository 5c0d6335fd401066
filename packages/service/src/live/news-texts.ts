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
  /** Is it told nothing but top keys? */
  readonly isKeysOnly: boolean
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

  textFor({ isAdmin, level, isKeysOnly }: LiveView): string {
    const view = `${isAdmin} ${isKeysOnly} ${level}`
    let text = this.#texts.get(view)
    if (text === undefined) {
      const keys = this.#keysFor(isAdmin, level)
      text = isKeysOnly ? keys : this.#eventsWith(keys, isAdmin)
      this.#texts.set(view, text)
    }
    return text
  }

  #keysFor(isAdmin: boolean, level: string): string {
    const top = this.#news.keys?.find(({ of }) => of === level)?.top
    return top === undefined ? '' : eventText('keys', JSON.stringify(maskedTop(top, this.#maskFor(isAdmin))))
  }

  #eventsWith(keys: string, isAdmin: boolean): string {
    const { levels, second, store, requests, demo, policy } = this.#news
    const mask = this.#maskFor(isAdmin)
    return [
      levels === undefined ? '' : eventText('levels', JSON.stringify(levels)),
      second === undefined ? '' : eventText('frame', second),
      store === undefined ? '' : eventText('store', JSON.stringify(store)),
      keys,
      requests === undefined ? '' : eventText('requests', JSON.stringify(requests.map((each) => told(each, mask)))),
      policy === undefined ? '' : eventText('policy', JSON.stringify(policy)),
      demo === undefined ? '' : eventText('demo', JSON.stringify(demo)),
    ].join('')
  }

  #maskFor(isAdmin: boolean): Mask {
    return isAdmin ? (text) => text : (text) => this.#mask.mask(text)
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
