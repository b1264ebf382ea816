import { mount } from '../shared/mount.tsx'
import { Dashboard } from './dashboard.tsx'

mount(<Dashboard />)
