/** The style of the page. Narrow windows get one column, where the list of routes scrolls by itself; wide ones have the routes beside the text. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --ground: #fff; --raised: #f5f7fa; --line: #d9dfe7; --text: #1b2430; --soft: #586574; --link: #0b5cad;
  --get: #14713d; --post: #8a4b00; --any: #6b3fa0; --token: #8f1d3f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #11161d; --raised: #1a222c; --line: #303b49; --text: #e4eaf1; --soft: #a3b0bf; --link: #7cb8ff;
    --get: #6fd39b; --post: #f0b35f; --any: #c5a3f5; --token: #ff9bb5;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.9em; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem 1rem; overflow-x: auto; overflow-wrap: normal; }
nav { padding: 1rem; border-bottom: 1px solid var(--line); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: 0.15rem 0; text-decoration: none; color: var(--text); font-size: 0.9rem; }
nav li a:hover { color: var(--link); }
nav b { display: inline-block; min-width: 2.9rem; font-size: 0.75rem; }
.brand { font-size: 1.2rem; font-weight: 600; margin: 0; }
.brand a { color: inherit; text-decoration: none; }
.group { margin: 1rem 0 0.25rem; font-weight: 600; font-size: 0.9rem; }
main { padding: 1rem; max-width: 58rem; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); padding-bottom: 0.3rem; }
h3 { margin: 2.2rem 0 0.25rem; font-size: 1.1rem; }
h4 { margin: 1.2rem 0 0.4rem; font-size: 0.85rem; color: var(--soft); }
h3 code { font-size: 1em; }
.summary { margin-top: 0; font-weight: 600; }
.get { color: var(--get); } .post, .put, .delete { color: var(--post); } .any { color: var(--any); }
.token { font-size: 0.75rem; font-weight: 400; color: var(--token); border: 1px solid currentColor; border-radius: 1rem; padding: 0.1rem 0.5rem; white-space: nowrap; }
small, .type { color: var(--soft); font-size: 0.85rem; font-weight: 400; }
.scroll { overflow-x: auto; }
.scroll + .scroll { margin-top: 1.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-top: 1px solid var(--line); }
th { font-weight: 500; width: 12rem; }
.answers > tbody > tr > th { width: 3.5rem; }
td p { margin: 0.15rem 0; }
td > .scroll { margin-top: 0.3rem; }
td pre { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; padding: 0.4rem 0; }
@media (max-width: 40rem) {
  .members, .members tbody, .members tr, .members th, .members td { display: block; width: auto; }
  .members td { border-top: 0; padding-top: 0; }
  .members .members { padding-left: 0.9rem; border-left: 2px solid var(--line); }
}
@media (max-width: 63.99rem) {
  nav { max-height: 45vh; overflow-y: auto; }
}
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 20rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  main { padding: 1rem 2.5rem 4rem; }
}
`
