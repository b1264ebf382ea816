import { mount } from '../shared/mount.tsx'
import { DemoPage } from './demo.tsx'

mount(<DemoPage />)
