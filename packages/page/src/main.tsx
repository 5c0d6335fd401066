/** The program of the page. */
import { render } from 'preact'
import { App } from './shell/app.js'
import { applyTheme, keptTheme, printInLight } from './shell/theme.js'

applyTheme(keptTheme())
printInLight()
render(<App />, document.getElementById('page') as HTMLElement)
