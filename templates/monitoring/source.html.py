BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXX
      XXXX XXXXXXXXXXXX
        XXX XXXXXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXXXXXX XXXXXXXX XX
      XXXXXX
      XX XXXXXXXXXX XXXXXXX
        XXXXXX
          BB BBBBBBBB BB BBBBBB
            XXXXXXXXXXXXX
          BBBB
            XXXXXXXXXX
          BBBBB
        XXXXXXX
        XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
        BB BBBBBBBBBBB
          XXXXXX
             pgettext(u'text, monitoring', u'last read %(time)s') 
              SSSS SSSS SSSSSSSS
            
          XXXXXXX
        BBBBB
      XXXX
    XXXXXX
    BB BBBBBBBBB
      XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Test') XXXXXXXXX
        BB BBBBBBBBBBBBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Disable') XXXXXXXXX
        BBBB
          XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Enable') XXXXXXXXX
        BBBBB
      XXXXXXX
    BBBBB
  XXXXXX
  BB BBBBBBBBBBB
    XXXXXXX XXXXXXXXXX XXXXXXX gettext(u'The last reading failed.') XX
      FFFFFFFFFF
      BB BBBBBBBBBBBBBBBBBXXXXX XXXXXXXXXXXXXXFFFXXXXXXXBBBBB
    XXXXXXXXX
  BBBBB
  BB BBBBBBBBBBB BBB BBB BBBBBB
    XXXXXXX XXXXXXXXXXX
            XXXXXXX gettext(u"These hosts aren't nodes of the cluster:") XX
      FFFFFFF F
    XXXXXXXXX
  BBBBB
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      BBBBB
      BB BBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Settings') XX
          XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
            BBBBBBBBBB
            XXXX XXXXXXXXXXXXXXX
              BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB
              BB BBBBBBBBBB
                XXXXXX XXXXXXXXXX XXXXXXX
                  XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
                   gettext(u'Remove the stored token') 
                XXXXXXXX
              BBBBB
            XXXXXX
            XXXX XXXXXXXXXX XXXXX
              XXXXXXX XXXXXXXXXX XXXXXXXX XXXXXXXXX XXXXXXXXXXXXX pgettext(u'button', u'Save') XXXXXXXXX
            XXXXXX
          XXXXXXX
        XXXXXXXXXX
      BBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Settings') XX
          XXXX XXXXXXXXXXX XXXXXXX
XXXXXX
        XXXXXXXXXX
      BBBBB
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Last reading') XX
        XXX XXXXXXXXXXXXXX
          XXXX pgettext(u'name of a value', u'Nodes') XXXXX
          XXXX
            FFFFFFFFFFFFFFFF
          XXXXX
          XXXX pgettext(u'name of a value', u'Values') XXXXX
          XXXX
            FFFFFFFFFFFFFFFF
          XXXXX
          XXXX pgettext(u'name of a value', u'Every') XXXXX
          XXXX
             X
          XXXXX
        XXXXX
      XXXXXXXXXX
      BB BBBBBBBB BB BBBBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'History') XX
          BB BBBBBBBBBB
            XX XXXXXXXXXXXXXX
               gettext(u'Reading older measurements, one value per five minutes. Done back to %(day)s.') 
                SSSSSSS SSSSS SSSSSSSSSSSSS SSS SSSSS SSS SSSS SSSSSSSS SSSS SSSS SS SSSSSSSS
              
            XXXX
          BBBB BBBBBBBBB
            XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
              BBBBBBBBBB
              XXXXXXXX XXXXXXX gettext(u'Read measurements since') X
                       XXXXXX gettext(u'One value per five minutes') XX
                XXXXXX XXXXXXXXXXX
                       XXXXXXXXXXXX
                       XXXXXXXX
                       XXXXXFFFFFFFFFFFFX
                       XXXXXFFFFFFFFFFFFXX
              XXXXXXXXXX
              XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Read history') XXXXXXXXX
            XXXXXXX
          BBBBB
        XXXXXXXXXX
      BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
        XXXXXXX XXXXXXXXXXXX XXXXXXXXX XXXX X XX
      XXXXXXXXXX
      BB BBBBBBBBB
        XXXXX XXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u'Remove this source? Its measurements are kept.') X
              XXXXXXXXXX pgettext(u'button', u'Remove') XX
          BBBBBBBBBB
          XXXXXXX XXXXXXXXXX XXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Remove source') XXXXXXXXX
        XXXXXXX
      BBBBB
    XXXXXX
  XXXXXX
BBBBBBBB
