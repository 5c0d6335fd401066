import { useEffect, useRef, useState } from 'preact/hooks'
import { changeAddress, readAddress, useAddress, writeAddress } from '../../shell/page-address.js'
import { FIRST_SETTINGS } from '../articles/presets.js'
import { labLink, settingsOfLink } from './lab-link.js'
import { type LabResult, type LabSettings, runLab } from './lab-settings.js'

/** Browsers refuse an address that changes too often, and a slider changes it with every pixel. */
const WRITE_AFTER_MS = 300
/** Long enough that a slider stays smooth while a hundred thousand requests are counted. */
const RUN_AFTER_MS = 40

/** What was set last: it stays while the person looks at another view. */
let kept: LabSettings = FIRST_SETTINGS

/** The settings in the address, or those that were set last, or the first preset; and how to change them. */
export function useLabSettings(): readonly [LabSettings, (next: LabSettings) => void] {
  const { values } = useAddress()
  const [settings, setSettings] = useState(() => settingsOfLink(values) ?? kept)
  const current = useRef(settings)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const isPending = useRef(false)
  const address = JSON.stringify(values)
  useEffect(() => {
    // The person has opened another link, or went back.
    const read = settingsOfLink(values)
    if (read === undefined || isPending.current || isSame(read, current.current)) return
    current.current = read
    setSettings(read)
  }, [address])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: LabSettings) => {
    current.current = next
    kept = next
    setSettings(next)
    clearTimeout(timer.current)
    isPending.current = true
    timer.current = setTimeout(() => {
      isPending.current = false
      if (readAddress(location.hash).view === 'lab') changeAddress(labLink(next))
    }, WRITE_AFTER_MS)
  }
  return [settings, change]
}

/** What the settings show, a moment after their last change. */
export function useLabResult(settings: LabSettings): LabResult {
  const [result, setResult] = useState(() => runLab(settings))
  const shown = useRef(settings)
  useEffect(() => {
    if (shown.current === settings) return
    const timer = setTimeout(() => {
      shown.current = settings
      setResult(runLab(settings))
    }, RUN_AFTER_MS)
    return () => clearTimeout(timer)
  }, [settings])
  return result
}

/** The whole address of the settings, to send to another person. */
export function addressOf(settings: LabSettings): string {
  return `${location.origin}${location.pathname}${writeAddress('lab', labLink(settings))}`
}

/** Would the two have one link? */
export function isSame(one: LabSettings, other: LabSettings): boolean {
  return JSON.stringify(labLink(one)) === JSON.stringify(labLink(other))
}
