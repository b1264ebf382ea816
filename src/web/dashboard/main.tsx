import { mount } from '../shared/mount.tsx'
import { Dashboard } from './dashboard.tsx'

// Where the page goes, its icon must not be looked for anew: its address is relative to where the page began.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
if (icon) icon.href = String(new URL(icon.href))

mount(<Dashboard />)
