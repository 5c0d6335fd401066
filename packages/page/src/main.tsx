/** The program of the page. */
import { render } from 'preact'
import { App } from './shell/app.js'
import { applyTheme, keptTheme } from './shell/theme.js'

applyTheme(keptTheme())
render(<App />, document.getElementById('page') as HTMLElement)
