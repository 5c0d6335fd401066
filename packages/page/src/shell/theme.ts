/** Light or dark: as the system has it, unless the person has chosen. The choice is kept in this browser. */
import { useEffect, useState } from 'preact/hooks'

export const THEMES = ['system', 'light', 'dark'] as const

export type Theme = (typeof THEMES)[number]

const KEPT_AS = 'sluice.theme'

/** The theme that was chosen last. */
export function keptTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEPT_AS)
    return THEMES.find((each) => each === kept) ?? 'system'
  } catch {
    // A browser may refuse storage.
    return 'system'
  }
}

/** Puts a theme in force: the style sheet reads `data-theme`. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  try {
    localStorage.setItem(KEPT_AS, theme)
  } catch {
    // The choice holds until the page is closed.
  }
  dispatchEvent(new Event('themechange'))
}

/** Paper is light: a print of the dark page would be a black sheet. */
export function printInLight(): void {
  addEventListener('beforeprint', () => {
    document.documentElement.dataset.theme = 'light'
    dispatchEvent(new Event('themechange'))
  })
  addEventListener('afterprint', () => applyTheme(keptTheme()))
}

/** Counts changes of the theme, also those of the system: what is drawn on a canvas is drawn again. */
export function useThemeChange(): number {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const hear = () => setCount((before) => before + 1)
    const system = matchMedia('(prefers-color-scheme: dark)')
    addEventListener('themechange', hear)
    system.addEventListener('change', hear)
    return () => {
      removeEventListener('themechange', hear)
      system.removeEventListener('change', hear)
    }
  }, [])
  return count
}

/** A colour of the style sheet, for a canvas: `colour('admitted')`. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
