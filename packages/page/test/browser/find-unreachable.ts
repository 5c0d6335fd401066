import type { ElementHandle, Page } from 'playwright-core'

const CONTROLS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'

/**
 * The controls of the page that a person without a mouse cannot use: Tab does not lead to them, or they do not show that they
 * have the focus. Arrow keys move inside a group of radio buttons, so Tab leads to one of each group.
 */
export async function findUnreachable(page: Page): Promise<readonly string[]> {
  const wanted: ElementHandle<Element>[] = []
  for (const each of await page.locator(CONTROLS).elementHandles())
    if ((await each.isVisible()) && (await each.evaluate(isStopOfTab))) wanted.push(each as ElementHandle<Element>)
  const reached = new Set<number>()
  const unmarked = new Set<number>()
  // Twice, because the first step may start in the middle of the page.
  for (let step = 0; step < 2 * wanted.length + 2; step++) {
    await page.keyboard.press('Tab')
    const { place, isMarked } = await page.evaluate(readFocus, wanted)
    reached.add(place)
    if (place >= 0 && !isMarked) unmarked.add(place)
  }
  const names = await Promise.all(wanted.map((each) => each.evaluate((element) => element.outerHTML.slice(0, 160))))
  return [
    ...names.filter((_, place) => !reached.has(place)).map((name) => `Tab does not lead to ${name}`),
    ...names.filter((_, place) => unmarked.has(place)).map((name) => `the focus is not seen on ${name}`),
  ]
}

function isStopOfTab(element: Element): boolean {
  if (element.matches(':disabled, [inert] *, [tabindex="-1"]')) return false
  if (!(element instanceof HTMLInputElement) || element.type !== 'radio' || element.checked) return true
  const group = [...document.querySelectorAll<HTMLInputElement>('input[type="radio"]')]
  const sameGroup = group.filter(({ name, form }) => name === element.name && form === element.form)
  return !sameGroup.some(({ checked }) => checked) && sameGroup[0] === element
}

/** The place of the focused element in the list, and whether it or its label looks focused. */
function readFocus(wanted: readonly Element[]): { readonly place: number; readonly isMarked: boolean } {
  const focused = document.activeElement as Element
  const isMarked = [focused, focused.closest('label')].some((element) => {
    if (element === null) return false
    const { outlineStyle, boxShadow } = getComputedStyle(element)
    return outlineStyle !== 'none' || boxShadow !== 'none'
  })
  return { place: wanted.indexOf(focused), isMarked }
}
