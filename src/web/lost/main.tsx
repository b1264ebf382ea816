import { mount } from '../shared/mount.tsx'
import { Lost } from './lost.tsx'

mount(<Lost />)
