import express, { type Express } from 'express'
import { type AsyncPolicy, type BlockFor, createPolicy, type Policy, type SyncStore, slidingLog } from 'sluice'
import { clientAddress, describe } from 'sluice/http'

/** The policy of docs/logins.md, on the store of a test. */
export function loginPolicy(store: SyncStore, blockFor?: BlockFor): Policy<'account' | 'address'> {
  const block = blockFor === undefined ? {} : { blockFor }
  const five = slidingLog({ quota: 5, window: '15m' })
  return createPolicy({
    name: 'logins',
    store,
    levels: [
      { name: 'account', key: 'account', limit: five, onFailure: 'local', ...block },
      { name: 'address', key: 'address', limit: five, onFailure: 'local', ...block },
    ],
  })
}

type Guesses = Policy<'account' | 'address'> | AsyncPolicy<'account' | 'address'>
type IsRight = (account: string, password: string) => Promise<boolean>

/** The application of docs/logins.md. */
export function loginApp(guesses: Guesses, isRight: IsRight): Express {
  const app = express()
  const clientOf = clientAddress({ trustedProxies: ['127.0.0.1'] })

  // recipe
  app.post('/login', express.json(), async (request, response) => {
    const account = String(request.body?.account ?? '')
      .trim()
      .toLowerCase()
    const password = String(request.body?.password ?? '')
    const address = clientOf(request.socket.remoteAddress, (name) => request.get(name))

    const guess = await guesses.reserve({ account: account || null, address }) // counts as wrong until it turns out right
    if (!guess.verdict.allowed) {
      const { status, headers, body } = describe(guess.verdict)
      response.status(status).set(headers).send(body)
      return
    }
    if (await isRight(account, password)) {
      await guess.cancel() // a right password takes nothing
      response.send('welcome')
    } else {
      response.status(401).send('wrong account or password')
    }
  })
  // end of the recipe

  return app
}
