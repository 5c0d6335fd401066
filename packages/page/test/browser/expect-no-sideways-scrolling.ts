import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** A small phone, a tablet and a wide screen. */
const WIDTHS = [375, 768, 1440]
/** Charts take the new width a moment after the page. */
const WITHIN = { timeout: 5_000 }

/** Fails if the page is wider than the screen. Names the elements that are. */
export async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 })
    await expect.poll(() => page.evaluate(findWide), WITHIN).toEqual([])
  }
}

function findWide(): readonly string[] {
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  const wide = [...document.body.querySelectorAll('*')].filter(
    (each) => each.getBoundingClientRect().right > clientWidth,
  )
  // The innermost ones say why.
  const inner = wide.filter((each) => !wide.some((other) => other !== each && each.contains(other)))
  const names = inner
    .slice(0, 5)
    .map((each) => `${each.tagName} ${each.getAttribute('class')} ${each.textContent?.slice(0, 40)}`)
  return [`${scrollWidth} px on ${clientWidth} px`, ...names]
}
