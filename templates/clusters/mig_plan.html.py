BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXX
       XXXXXXXXXXXXX
       BB BBBBBBBBBXXXXXXXXXXXBBBBBX
    XXXX XXXXXXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXXX
        XXXX XXXXXXXXXXXX
          XXX XXXXXXXXXXXXXFFFFFFFFFFXXXXX
          XXXXXXXX XXXXXXXXXXXXX XXXXXXXX XX
        XXXXXX
        XX XXXXXXXXXX XXXXXXX
          XXXXXXXXXXXXX
          XXXXXX
             npgettext(u'number of things', u'1 GPU changes', u'%(n)s GPUs change',count) 
              S SSS SSSSSSS
            
              PPPPP PPPP PPPPPP
            
          XXXXXXX
          XXXXXX
             npgettext(u'number of things', u'1 node drains', u'%(n)s nodes drain',count) 
              S SSSS SSSSSS
            
              PPPPP PPPPP PPPPP
            
          XXXXXXX
          BB BBBBBBBBBBB
            XXXXXXXX XXXXXXXXXXXXXXXXXXXXXX gettext(u'Way back from an earlier plan') XXXXXXXXXXX
          BBBBB
        XXXX
      XXXXXX
      BB BBBBBBBBB
        XXXX XXXXXXXXXXXXXXXX
          XXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXXX
            BBBBBBBBBB
            BB BBBBBBBB
              XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Discard') XXXXXXXXX
              XXXXXXX XXXXXXXXXX XXXXXXXX
                      XXXXXXXXX
                      XXXXXXXXXXXXX
                      BB BBBBBBBBBXXXXXXXXBBBBBX pgettext(u'button', u'Apply') XXXXXXXXX
            BBBB BBBBBBBBB
              XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Stop') XXXXXXXXX
            BBBB BBBBBBBB
              XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Undo…') XXXXXXXXX
            BBBBB
          XXXXXXX
        XXXXXX
      BBBBB
    XXXXXX
    BB BBBBBBBBB
      XXXXXXX XXXXXXXXXXX XXXXXXX gettext(u"This plan can't be applied yet.") XX
        XXXX
          BBB BBB BB BBBBBBBBBXXXXFFFFFFFFFFXXXXXBBBBBB
        XXXXX
      XXXXXXXXX
    BBBBB
    XXXX XXXXXXXXXXXX XXXXXX
      XXXX XXXXXXXXXXXXXX
        BBB BBBB BB BBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
        BBBBB
          XXXXXXXX XXXXXXX gettext(u'Nothing to change') XX
             gettext(u'The GPUs offer what you asked for already, or no other layout fits.') 
            XXXXXXX XXXXXXXXXXXXXXX
              XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'New plan') XXXX
            XXXXXXXXX
          XXXXXXXXXX
        BBBBBB
        BB BBBB
          XX XXXXXXXXXXXX XXXXXXX
             npgettext(u'number of things', u'and 1 more node', u'and %(n)s more nodes',count) 
              SSS S SSSS SSSS
            
              PPP PPPPP PPPP PPPPP
            
          XXXX
        BBBBB
      XXXXXX
      XXXX XXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'How it is applied') XX
          XX XXXXXXXXXXXXXX
            XXXFFFFFFFFFFXXXXX FFFFFFFFFF
          XXXX
          XXX XXXXXXXXXXXXXX
            XXXX pgettext(u'name of a value', u'Nodes at once') XXXXX
            XXXX
              
            XXXXX
            XXXX pgettext(u'name of a value', u'Wait for jobs') XXXXX
            XXXX
              FFFF
            XXXXX
            XXXX gettext(u'Wait for the layout') XXXXX
            XXXX
              FFFF
            XXXXX
            BB BBBBBBBBB
              XXXX pgettext(u'name of a value', u'scontrol reconfigure') XXXXX
              XXXX
                BB BBBBBBBBBBBBBBBBBBBBBBBB
                   pgettext(u'value', u'by the portal') 
                BBBB
                   pgettext(u'value', u'by you') 
                BBBBB
              XXXXX
            BBBBB
          XXXXX
          XX XXXXXXXXXXXX XXXXXXX
             gettext(u'Each node is drained, waits for its jobs, is changed and verified, and returns to service. If that fails, its former layout is rebuilt; a node where that fails too stays drained.') 
          XXXX
          BB BBBBBBBBB BBB BBB BBBBBBBBB
            XXXX XXXXXXXXXXXX
              XXXXXXX XXXXXXXXXX XXXXXX
                      XXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Change…') XXXXXXXXX
            XXXXXX
          BBBBB
        XXXXXXXXXX
        BB BBBBBBBBBB BB BBBBBB BBB BBBBBBBBB
          XXXXXXXX XXXXXXX gettext(u'Use the instances') XX
            BBB BBBB BB BBBBBBBBB
              XXXXXXX XXXXXXXXXXXX XXX XXXXXX XXXXXX XX XXXXXX XXXXXXXXX XX
            BBBBBB
            XX XXXXXXXXXXXX XXXXXXX gettext(u'Teams that may use a pool with these nodes ask for them like for any GPU.') XXXX
          XXXXXXXXXX
        BBBBB
        BBB BBBBB BBBB BB BBBBBBBBBBB
          XXXXXXXX XXXXXXXXX
            BB BBBBBBBBBBBBB
              XX XXXXXXXXXXXX XXXXXXX
                 gettext(u'Install these lines before the nodes return: Slurm reads them when it is reconfigured.') 
              XXXX
            BBBBB
            XXXXXXX XXXXXXX XX
          XXXXXXXXXX
        BBBBBB
        BBB BBBBB BBBB BB BBBBBBBBBBBBB
          XXXXXXXX XXXXXXXXX
            XX XXXXXXXXXXXX XXXXXXX
               gettext(u"Configuration of the GPU operator. If it isn't built in, add it to the operator's config map.") 
            XXXX
            XXXXXXX XXXXXXX XX
          XXXXXXXXXX
        BBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
          XXX XXXXXXXXXXXXXX
            XXXX pgettext(u'name of a value', u'Planned by') XXXXX
            XXXX
              X FFF
            XXXXX
            BB BBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'Applied by') XXXXX
              XXXX
                X FFF
              XXXXX
            BBBBB
            BB BBBBBBBBBBBBBBBB
              XXXX pgettext(u'name of a value', u'Finished') XXXXX
              XXXX
                FFF
              XXXXX
            BBBBB
          XXXXX
          XXXXXXX XXXXXXXXXXXX XXX XXXX X XX
        XXXXXXXXXX
      XXXXXX
    XXXXXX
  XXXXXX
  BB BBBBBBBBB BBB BBB BBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
                   XXXXXXX gettext(u'How GPUs are partitioned') X
                   XXXXXXXX pgettext(u'button', u'Save') X
                   XXXXXXXXXXXXXX
      XXXXXXXXX XXXXXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXX
        BBB BBBBBB BBBBB BBBBB BB BBBBBBB
          XXXXXX XXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXX
                   XXXXXXXXXXXXX
                   XXXXXXXX
                   BB BBBBB BB BBBBBBBBBBBBBBBXXXXXXXBBBBBX
            XXXXXXXXXFFFFFFFFFFXXXXX FFFFFFFFFFXXXXXXX
          XXXXXXXX
        BBBBBB
      XXXXXXXXXXX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Nodes at once') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'Wait for jobs (min)') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'Wait for the layout (min)') XX
          XXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXX
                 XXXXXXX
                 XXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXX
        XXXXXXXXXX
      XXXXXX
      BB BBBBBBBBB
        XXXXXX XXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXX
                 BB BBBBBBBBBBBBBBBBBBBBBBBBXXXXXXXBBBBBX
          XXXXXX gettext(u'The portal runs scontrol reconfigure. Otherwise you do, and confirm it here.') XXXXXXX
        XXXXXXXX
      BBBBB
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
