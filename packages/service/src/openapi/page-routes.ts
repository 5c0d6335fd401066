import type { DoorDescription } from './route-description.js'

/** The routes of the page door. */
export const pageRoutes: DoorDescription = {
  title: 'The page',
  about:
    'For people: live charts, inspection of requests, and a laboratory of limits. With `--page off` the service has none of ' +
    'these routes.',
  routes: {
    'GET /': {
      summary: 'The page',
      description:
        'Loads one script and one style sheet from `/page/`. They are named by their contents, so their names change with the ' +
        'version. Nothing is loaded from elsewhere.',
      answers: {
        200: {
          description: 'HTML, compressed if the client takes gzip. The page itself needs no token; it asks for one.',
          type: 'text/html; charset=utf-8',
          schema: { type: 'string' },
          fields: { ETag: 'Send it in `If-None-Match`.' },
        },
        304: { description: 'The client has the page already.' },
      },
      problems: [404],
    },
  },
}
