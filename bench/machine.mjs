import { availableParallelism, cpus, totalmem } from 'node:os'

/** The parts of the machine that figures depend on, without its name. */
export function machine() {
  return {
    cpu: cpus()[0].model.trim(),
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    system: `${process.platform} ${process.arch}`,
  }
}

export function machineTitle({ cpu, cores, memoryGiB, node, system }) {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, Node.js ${node}, ${system}`
}
