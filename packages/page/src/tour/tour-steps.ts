import type { View } from '../shell/page-address.js'

/** One place on the page, and what the tour says about it. */
export interface TourPlace {
  /** Finds the place. */
  readonly selector: string
  readonly title: string
  readonly text: string
}

/** One step of the tour. Of its places the first counts that is on the page. */
export interface TourStep {
  readonly view: View
  readonly places: readonly TourPlace[]
}

/** What a person should know of the page, in the order in which they need it. */
export const tourSteps: readonly TourStep[] = [
  {
    view: 'live',
    places: [
      {
        selector: '.live-decisions, .live-focus',
        title: 'Live: what the service decides',
        text: 'The charts move once a second: how many requests are allowed and denied, and how long a decision takes. Choose a window from a minute to an hour.',
      },
    ],
  },
  {
    view: 'live',
    places: [
      {
        selector: '.live-levels',
        title: 'Click a level',
        text: 'A policy is a list of levels, and a request takes from all that match it. Click one to see its own chart, its limits and its busiest keys.',
      },
    ],
  },
  {
    view: 'inspect',
    places: [
      {
        selector: '.inspect-request',
        title: 'Inspect a request',
        text: 'Type attributes, or pick a request that was decided a moment ago. You see every level that it meets, what is left in each, and which denies it. Nothing is taken.',
      },
    ],
  },
  {
    view: 'lab',
    places: [
      {
        selector: '.main .panel',
        title: 'The lab: try a limit out',
        text: 'Draw the algorithms side by side on the same traffic before you set a limit. It runs in your browser, and a link keeps the settings.',
      },
    ],
  },
  {
    view: 'live',
    places: [
      {
        selector: '.notice [role="switch"]',
        title: 'Switch off the demo',
        text: 'The traffic that you see is made up. Switch it off here. With a policy of your own it never runs.',
      },
      {
        selector: '.commands-button',
        title: 'Commands to copy',
        text: 'Here are commands that ask this service, explain a request and serve a policy of your own.',
      },
    ],
  },
]
