import { type FSWatcher, unwatchFile, watch, watchFile } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { stampRules } from '../envoy-rules/read-rules-folder.js'
import { SettledFile } from './settled-file.js'

/** How often the file is looked at in any case: for changes that the system does not report. */
const POLL_MS = 2_000

/**
 * Calls `onChange` soon after the start, and whenever a file has changed and is complete. Returns a function that ends the
 * watch.
 *
 * It watches the folder, not the file: an editor renames a new file to the old name, and Kubernetes swaps a symbolic link
 * beside it (`..data`). A look every two seconds finds what the system does not report: a link to a file in another folder
 * that changes there, and files on network drives. The watch keeps no process alive.
 */
export function watchPath(path: string, onChange: () => void): () => void {
  const settled = new SettledFile(() => stamp(path), onChange)
  let folder = watchFolder(dirname(path), () => settled.look())
  // `watchFile` follows links, so it compares the file that a reader would get.
  const onPoll = () => {
    // The folder itself may be another now.
    folder?.close()
    folder = watchFolder(dirname(path), () => settled.look())
    settled.look()
  }
  watchFile(path, { interval: POLL_MS, persistent: false }, onPoll)
  return () => {
    folder?.close()
    unwatchFile(path, onPoll)
    settled.close()
  }
}

/**
 * As `watchPath`, for all files of a folder with rules. The system reports changes in the folder itself, where Kubernetes swaps its
 * link, and another folder in its place. The look every two seconds finds changes in folders below it.
 */
export function watchRules(path: string, onChange: () => void): () => void {
  const settled = new SettledFile(() => stampRules(path), onChange)
  const watchBoth = () => [path, dirname(path)].map((each) => watchFolder(each, () => settled.look()))
  let watchers = watchBoth()
  const poll = setInterval(() => {
    for (const each of watchers) each?.close()
    watchers = watchBoth()
    settled.look()
  }, POLL_MS).unref()
  return () => {
    for (const each of watchers) each?.close()
    clearInterval(poll)
    settled.close()
  }
}

/** Absent if the system cannot watch the folder: it is gone, or there are too many watches. */
function watchFolder(folder: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onEvent)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}

/** A text that differs if the file differs: which file it is, its size and times. Empty if there is no file. */
async function stamp(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch {
    return ''
  }
}
