import { mount } from '../shared/mount.tsx'
import { Sandbox } from './sandbox.tsx'

mount(<Sandbox />)
