import { createHmac, randomBytes } from 'node:crypto'

const DIGITS = 6
/** The key of all requests of a level without key attributes. */
const SHARED_KEY = '*'

/**
 * Masks keys and attributes for clients without the admin token. The same text has the same mask until the service ends, so
 * a client can follow a key. The secret is random, so a client cannot find the key of a mask by trying keys.
 */
export class KeyMask {
  readonly secret: string

  /** Workers of one service share a secret, so that their masks agree. Default: a new one. */
  constructor(secret = randomBytes(32).toString('hex')) {
    this.secret = secret
  }

  /** The mask of a text: `•••• 3f9a1c`. The key of a level without key attributes is no secret. */
  mask(text: string): string {
    if (text === SHARED_KEY) return text
    return `•••• ${createHmac('sha256', this.secret).update(text).digest('hex').slice(0, DIGITS)}`
  }
}
