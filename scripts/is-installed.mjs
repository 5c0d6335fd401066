// Whether node_modules holds the packages of package-lock.json. npm writes node_modules/.package-lock.json last, when it has
// installed everything, so `npm ci` by hand counts as well. It works on data; set-up.mjs reads the files.

const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

/**
 * @param lock package-lock.json
 * @param installed node_modules/.package-lock.json
 * @param manifests each package.json by its folder; '' is the root's
 */
export function isInstalled(lock, installed, manifests, { platform, arch } = process) {
  const wanted = Object.entries(lock.packages).filter(([path]) => path !== '')
  return (
    wanted.every(([path, each]) => isSame(each, installed.packages[path])) &&
    Object.values(installed.packages).every(
      ({ os = [platform], cpu = [arch] }) => fits(os, platform) && fits(cpu, arch),
    ) &&
    Object.entries(manifests).every(([folder, manifest]) => asksForSame(manifest, lock.packages[folder]))
  )
}

/** A package for another platform may be missing. */
function isSame(wanted, present) {
  if (present === undefined) return wanted.optional === true
  return ['version', 'integrity', 'link'].every((field) => wanted[field] === present[field])
}

/** A list with exclusions, such as `['!win32']`, does not fit: at worst the packages are installed once more. */
function fits(list, value) {
  return list.includes(value)
}

/** A manifest that was changed by hand differs from the lockfile, and then npm has to look at both. */
function asksForSame(manifest, locked) {
  return kinds.every((kind) => sorted(manifest[kind]) === sorted(locked?.[kind]))
}

function sorted(dependencies = {}) {
  return JSON.stringify(Object.entries(dependencies).sort())
}
