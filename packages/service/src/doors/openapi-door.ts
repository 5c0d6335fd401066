import { createHash } from 'node:crypto'
import { docsPage } from '../openapi/docs-page.js'
import { openapiDocument } from '../openapi/openapi-document.js'
import type { Door } from '../server/door.js'
import type { Exchange } from '../server/exchange.js'

/** `GET /openapi.json` and `GET /docs`: what the service answers, for programs and for people. */
export function openapiDoor(): Door {
  const document = openapiDocument()
  const json = JSON.stringify(document)
  const { html, style } = docsPage(document)
  const styleHash = createHash('sha256').update(style).digest('base64')
  const send = ({ response }: Exchange, text: string, fields: Readonly<Record<string, string>>) => {
    response.writeHead(200, {
      'Content-Length': Buffer.byteLength(text),
      'X-Content-Type-Options': 'nosniff',
      ...fields,
    })
    response.end(text)
  }
  return {
    name: 'openapi',
    routes: {
      'GET /openapi.json': (exchange) => send(exchange, json, { 'Content-Type': 'application/json' }),
      'GET /docs': (exchange) =>
        send(exchange, html, {
          'Content-Type': 'text/html; charset=utf-8',
          // The page loads nothing and runs nothing.
          'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`,
        }),
    },
  }
}
