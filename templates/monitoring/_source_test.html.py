BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXX
  XXXXXXXX
    XXXX pgettext(u'heading', u'Test') XXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXX XXXXXXXXX
    BB BBBBBBBBBBBBBB
      XXXXXXX XXXXXXXXXXX
        FFFFFFFFFF
      XXXXXXXXX
    BBBBB
    BB BBBBBBBBBBBBBB
      XXXXXXX XXXXXXXXXXX
              XXXXXXX gettext(u"These hosts aren't nodes of the cluster:") XX
        FFFFFFF F
      XXXXXXXXX
    BBBBB
    BB BBBBBBBBBBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXX XXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Node') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXX
              XXXX pgettext(u'column', u'Driver') XXXXX
              XXXX pgettext(u'column', u'Metrics') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBBBBBBBBBB
              XXXX
                XXX XXXXXXXXXXXXXXXXXX
                XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXXXX
                XXX XXXXXXXXXXXX pgettext(u'column', u'Driver') XX
                  BB BBBBBBBBBB
                    
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXXX XXXX XXXXXXXFFFFFF FXXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBBB
  XXXXXX
XXXXXXXXXX
