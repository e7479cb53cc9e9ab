BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Idle GPUs') X
          XXXXX gettext(u'Running jobs whose GPUs have been below 10%% for 30 minutes or longer.') XX
  XXXXXXXXX
  BB BBBB
    XXXX XXXXXXXXXXXXXX
      XXXX XXXXXXXXXXXX XXXXXXXXX
        XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Jobs') X
                XXXXXXXFFFFFFX XX
        XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Idle GPUs') X
                XXXXXXXFFFFFFFFFFFFFFFFX XX
        XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Idle GPU-hours') X
                XXXXXXXFFFFFFFFFFFFFFFFFX XX
      XXXXXX
      XXXX XXXXXXXXXXXXXX
        XXXX XXXXXXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX XXXXXXX
            XXXXXXX
              XXXX
                XXXX pgettext(u'column', u'Job') XXXXX
                XXXX pgettext(u'column', u'Owner') XXXXX
                XXXX pgettext(u'column', u'Team') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Idle GPUs') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Below 10%%') XXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Since') XXXXX
                XXX XXXXXXXXXXXX gettext(u'GPU util (5 min)') XXXXX
                XXXX
                  XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
                XXXXX
              XXXXX
            XXXXXXXX
            XXXXXXX
              BBB BBB BB BBBB
                XXX XXXXXXXXXXXXX
                  XXX XXXXXXXXXXX XXXXXX
                    XX XXXXXXXXXXXXX XXXXXXXXXXXX
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  XXXXX
                  XXX XXXXXXXXXXXXXFFFFFFFFFFFFFFFFFFFFFFFXXXXX
                  XXX XXXXXXXXXXXX XXXXXXXXXXX
                  XXX XXXXXXXXXX XXXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'Idle GPUs') XX
                     pgettext(u'value', u'%(gpus)s of %(total)s') 
                      SSSSSSSS SS SSSSSSSSS
                    
                  XXXXX
                  XXX XXXXXXXXXX XXXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'Below 10%%') XXFFFFFFFFFFFFFFFFF XXXXXXXXXX
                  XXX XXXXXXXXXX XXXXXX XXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'Since') XXFFFXXXXX
                  XXX XXXXXXXXXX XXXXXX XXXXXXXX
                      XXXXXXXXXXXX pgettext(u'column', u'GPU util') XXFFFFFFFXXXXX
                  XXXXBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBXXXXX
                XXXXX
              BBBBBB
            XXXXXXXX
          XXXXXXXX
        XXXXXX
      XXXXXX
    XXXXXX
  BBBB
    XXXXXXXX XXXXXXX pgettext(u'empty list', u'No idle GPUs') X
             XXXXXXXXXXXXXXX XXXXXX
       gettext(u'A running job is listed here when its GPUs stay below 10%% for 30 minutes.') 
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Running jobs') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  BBBBB
BBBBBBBB
