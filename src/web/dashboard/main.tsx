import { mount } from '../kit/mount.tsx'
import { Dashboard } from './dashboard.tsx'

// Made absolute: the address of the page changes, and the icon's is relative.
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
if (icon) icon.href = String(new URL(icon.href))

mount(<Dashboard />)
