import { type DoorDescription, ref } from './route-description.js'

const EVENTS = ['Hello', 'Frame', 'Levels', 'Policy', 'Store', 'TopKeys', 'Requests', 'Demo', 'End']

/** The route of the live door. */
export const liveRoutes: DoorDescription = {
  title: 'Live',
  about:
    'What the service does, second by second. Its page is made of this. It needs no token, and masks keys without one.',
  routes: {
    'GET /v1/live': {
      summary: 'The decisions of each second, as they happen, and those of the last hour',
      description:
        'Server-sent events until the client goes away or the service ends. The first is `hello`, with the history; then comes a ' +
        '`frame` a second. With `--workers`, every worker tells the totals of all.\n\nWith `Authorization: Bearer TOKEN`, keys and ' +
        'attributes are as they are. Without the field they are masked. A wrong token is refused as on the admin routes.\n\nA client ' +
        'that does not read is dropped. At most 32 clients without the token listen at a time, and 32 with it. A browser that asks ' +
        'for a page of another site is refused.',
      query: {
        level: {
          schema: { type: 'string' },
          description: 'The level whose top keys are told. Default: all levels together.',
        },
        events: {
          schema: { type: 'string', enum: ['keys'] },
          description: 'Only these events, from the next one on. Default: all events, with the history first.',
        },
      },
      answers: {
        200: {
          description: 'A stream of events. The data of each is JSON; the schemas say which event they describe.',
          type: 'text/event-stream; charset=utf-8',
          schema: { anyOf: EVENTS.map((name) => ref(`Live${name}`)) },
        },
      },
      problems: [400, 401, 403, 429, 503],
    },
  },
}
