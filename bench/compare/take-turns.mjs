/**
 * Lets subjects take turns. Each round has one turn of every subject, in random order; the first rounds warm up the
 * compiler and do not count. Gives one object for each round: what `turn(subject)` found, by the subject's name.
 */
export async function takeTurns(subjects, { rounds, warmUp }, turn) {
  const found = []
  for (let round = 0; round < warmUp + rounds; round++) {
    const measured = {}
    for (const name of shuffled(Object.keys(subjects))) measured[name] = await turn(subjects[name], round)
    // In the order of the subjects again, for the reader.
    if (round >= warmUp) found.push(Object.fromEntries(Object.keys(subjects).map((name) => [name, measured[name]])))
  }
  return found
}

function shuffled(names) {
  const left = [...names]
  return names.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0])
}
