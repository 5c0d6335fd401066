import type { Page } from 'playwright-core'

const CONTROLS = 'a[href], button, input, select, textarea, summary'

/** What a finger needs, in CSS pixels. */
const FINGER = 44

/**
 * The controls that are seen and too low for a finger. A field that lies in a label is as large as the label, and a link to a level
 * as its row. A link in the middle of a sentence is as high as the line.
 */
export async function findSmall(page: Page): Promise<readonly string[]> {
  return await page.evaluate(
    ([controls, finger]) => {
      const areaOf = (element: Element) => element.closest('tbody tr') ?? element.closest('label') ?? element
      const small = [...document.querySelectorAll(controls)].filter((element) => {
        if (element.matches('.skip') || getComputedStyle(element).display === 'inline') return false
        const own = element.getBoundingClientRect().height
        return own > 0 && Math.max(own, areaOf(element).getBoundingClientRect().height) < finger
      })
      return small.map((element) => `${element.getBoundingClientRect().height} px: ${element.outerHTML.slice(0, 160)}`)
    },
    [CONTROLS, FINGER - 0.5] as const,
  )
}
