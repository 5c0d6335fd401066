import { machineTitle } from './machine.mjs'
import { table } from './markdown.mjs'
import { readResult } from './results.mjs'
import { sections } from './sections.mjs'

/** The text of RESULTS.md, from the last results of each section. */
export function report() {
  const measured = sections.flatMap((section) => {
    const result = readResult(section.name)
    return result === undefined ? [] : [{ section, result }]
  })
  return `${[
    '# Benchmark results',
    '',
    '`npm run bench` writes this file. Each section names its date and machine; `npm run bench -- <section>` measures one',
    'section again and keeps the others. Only ratios within a section carry over to other machines.',
    '',
    '## Goals',
    '',
    goalTable(measured),
    ...measured.flatMap(sectionLines),
  ].join('\n')}\n`
}

function goalTable(measured) {
  const goals = measured.flatMap(({ section, result }) => section.goals(result.data))
  const rows = goals.map(({ goal, measured, reached }) => [goal, measured, reached ? 'reached' : 'not reached'])
  return table(['goal', 'measured', ''], rows)
}

function sectionLines({ section, result: { date, command, machine, data } }) {
  return [
    '',
    `## ${section.title}`,
    '',
    `\`${command}\` on ${date}: ${machineTitle(machine)}.`,
    '',
    section.render(data),
  ]
}
