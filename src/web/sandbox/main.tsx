import { mount } from '../kit/mount.tsx'
import { Sandbox } from './sandbox.tsx'

mount(<Sandbox />)
