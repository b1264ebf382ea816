import { mount } from '../kit/mount.tsx'
import { Lost } from './lost.tsx'

mount(<Lost />)
