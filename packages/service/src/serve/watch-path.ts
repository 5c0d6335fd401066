import { type FSWatcher, unwatchFile, watch, watchFile } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** How often the file is looked at in any case: for changes that the system does not report. */
const POLL_MS = 2_000
/** A file that stays the same for so long is complete. */
const SETTLE_MS = 50
/** A file that keeps changing is read after so many looks. */
const MOST_LOOKS = 20

/**
 * Calls `onChange` soon after the start, and whenever a file has changed and is complete. Returns a function that ends the
 * watch.
 *
 * It watches the folder, not the file: an editor renames a new file to the old name, and Kubernetes swaps a symbolic link
 * beside it (`..data`). A look every two seconds finds what the system does not report: a link to a file in another folder
 * that changes there, and files on network drives. The watch keeps no process alive.
 */
export function watchPath(path: string, onChange: () => void): () => void {
  const settled = new SettledFile(path, onChange)
  let folder = watchFolder(path, () => settled.look())
  // `watchFile` follows links, so it compares the file that a reader would get.
  const onPoll = () => {
    // The folder itself may be another now.
    folder?.close()
    folder = watchFolder(path, () => settled.look())
    settled.look()
  }
  watchFile(path, { interval: POLL_MS, persistent: false }, onPoll)
  return () => {
    folder?.close()
    unwatchFile(path, onPoll)
    settled.close()
  }
}

/** Absent if the system cannot watch the folder: it is gone, or there are too many watches. */
function watchFolder(path: string, onEvent: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(path), { persistent: false }, onEvent)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}

/** Waits until a file stays the same between two looks: an editor may have written half of it. */
class SettledFile {
  readonly #path: string
  readonly #onChange: () => void
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #looks = 0
  /** What the last look saw, and what was reported last. */
  #seen: string | undefined
  #reported: string | undefined

  constructor(path: string, onChange: () => void) {
    this.#path = path
    this.#onChange = onChange
    // The file may have changed since the caller read it.
    this.look()
  }

  look(): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.#compare(), SETTLE_MS).unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #compare(): Promise<void> {
    const now = await stamp(this.#path)
    this.#timer = undefined
    if (this.#isClosed) return
    const isComplete = (now === this.#seen && now !== '') || ++this.#looks >= MOST_LOOKS
    this.#seen = now
    if (now === this.#reported) {
      this.#looks = 0
      return
    }
    if (!isComplete) return this.look()
    this.#looks = 0
    this.#reported = now
    this.#onChange()
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
