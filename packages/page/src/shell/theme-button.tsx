import { useState } from 'preact/hooks'
import { applyTheme, keptTheme, THEMES } from './theme.js'

const WORDS = { system: 'Auto', light: 'Light', dark: 'Dark' }

/** Goes through the themes: as the system has it, light, dark. */
export function ThemeButton() {
  const [theme, setTheme] = useState(keptTheme)
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]
  const choose = () => {
    applyTheme(next)
    setTheme(next)
  }
  return (
    <button
      type="button"
      class="button quiet"
      onClick={choose}
      aria-label={`Theme: ${WORDS[theme]}. Change to ${WORDS[next]}`}
    >
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" class="icon">
        <circle cx="8" cy="8" r="6" />
        <path class="filled" d="M8 2a6 6 0 0 1 0 12z" />
      </svg>
      <span class="tool-text">{WORDS[theme]}</span>
    </button>
  )
}
