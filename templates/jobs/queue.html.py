BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBBBBB
   gettext(u'Pending jobs of all clusters and organizations, and why each one waits.') 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Queue') X XXXXXX XX
  BB BBBBB BB BBBBBBBBBBB
    XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXX
      XX XXXXXXXXXXXX
         XXXXXXX
         BB BBB BBBBBBBBBBXXXXXXXXXXXXXXXXXXXBBBBBX pgettext(u'state', u'All')  FFFFFFFFFFFFFFFFXXXX
      BBB B BB BBBBBBB
        XX XXXXXXXXXXXX
           XXXXXXX
           BB BBBBBB BB BBBBBBBBBBXXXXXXXXXXXXXXXXXXXBBBBBX
          FFFFFFFFFF
          XXXFFFFFFFFFFFFFFFFXXXX
        XXXX
      BBBBBB
      BB BBBBBBBBBBBBBBB B B
        XXXXXXX XXXXXXXXXXXXXX
                XXXXXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'spoken label', u'Cluster') X
                XXXXXXXXXXXXXXXX
          XXXXXXX XXXXXXXXX pgettext(u'choice', u'All clusters') XXXXXXXXX
          BBB BBBB BB BBBBBBBB
            XXXXXXXBB BBBB BB BBBBBBBBBBBBB XXXXXXXXBBBBBXXXXXXXXXX
          BBBBBB
        XXXXXXXXX
      BBBBB
      BB BBBBBBBBB
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXX XXXXXXXXX
      BBBBB
      BB BBBBBBBBBB
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
      BBBBB
      BB BBBBBBBBBB
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
      BBBBB
      BB BBBBBBBBB
        XX XXXXXXXXXXXX
           XXXXXXXBB BBBBBBBBBBBBBXXXXXXXXBBBBBXX
          
          BB BBBBBBBBBBX BBBBB X
        XXXX
      BBBBB
    XXXXXXX
  BBBBB
  BB BBBB
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBBB BBB BBBBBBBBBBBB B B
        XXXXXXXX XXXXXXXXXXXXXBB BBBBBBBBBBBB BB BB XXXXBBBBBX
          XXXXXXXXX pgettext(u'heading', u'Teams (%(n)s)') SSSSS SSSSSSSXXXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXX
                XXXX
                  XXXX pgettext(u'column', u'Team') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Pending') XXXXX
                  XXXX pgettext(u'column', u'Main reason') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Longest wait') XXXXX
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB B BB BBBBB
                  XXXX
                    XXX XXXXXXXXXXXXX
                      XX XXXXXXXXXXXXX
                         XXXXXXBBBBB BBBBBBBBB BBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBXXXXXX
                      XXXXX XXXXXXXXXXXXXXXXXXXXX
                    XXXXX
                    XXX XXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXXXFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXX XXXXXX XXXXXXFFFFFXXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
        XXXXXXXXXX
      BBBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Job') XXXXX
              XXXX pgettext(u'column', u'Team') XXXXX
              XXXX pgettext(u'column', u'Cluster') XXXXX
              XXX XXXXXXXXXXXXXXXXXXXXX
              XXXX pgettext(u'column, why', u'Reason') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Waiting') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Expected start') XXXXX
              XXXX
                XXXXX XXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'column', u'Actions') XXXXXXX
              XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB B BB BBBB
              XXX XXXXXXXXXXXXX
                XXX XXXXXXXXXXX XXXXXX
                  XX XXXXXXXXXXXXX XXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXXXX
                    X
                    BB BBBBBBB X  pgettext(u'value', u'%(n)s tasks') SSSSS SSSSSBBBBB
                  XXXXXXX
                XXXXX
                XXX XXXXXXXXXXXXX
                  XXXXX XXXXXXXXXXXXXXXXXXXXX XXXXX XXXXXXXXXXXXXXXXXXXXX
                XXXXX
                XXX XXXXXXXXXXX XXXXXX XXXXXXX
                  
                  BB BBBBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXX XXXXXX
                  BB BBBBBB
                    
                  BBBB
                    XXXXX XXXXXXXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXX XXXXXXXFFFFFFFFFFXXFFFFFFFFFFFFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXX XXXXXX XXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Waiting') XXFFFFFXXXXX
                XXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Expected start') XXBBBBBBBBBBB BBBBBBBBBBBBBBBBXXXXX
                XXX XXXXXXXXXXXX
                  BB BBBBBBBBBBBB
                    XX XXXXXXXXXX XXXXXX XXXXXXXX pgettext(u'button', u'Edit limit') XXXX
                  BBBBB
                XXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
      BB BBBBBBBB BB BBB BBBBBBBB
        XXXX XXXXXXXXXXXXX
             XXXXXXXXXXXX pgettext(u'spoken label', u'Pages') XX
          BB BBB BBBBBBBB
            XX XXXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Longest waiting') XXXX
          BBBBB
          BB BBBBBBBB
            XX XXXXXXXXXXX XXXXXXXXXX XXXXXXXX pgettext(u'button', u'Newer') XXXX
          BBBBB
        XXXXXX
      BBBBB
    XXXXXX
  BBBB BBBBBBBBBBB
    XXXXXXXX XXXXXXX gettext(u'No matching jobs') XX
       gettext(u'Clear a filter to see more.') 
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Clear filters') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  BBBB
    XXXXXXXX XXXXXXX gettext(u'Nothing is waiting') XX
       gettext(u'Every submitted job has started or ended. Jobs that have to wait appear here with the reason.') 
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'See free capacity') XXXX
      XXXXXXXXX
    XXXXXXXXXX
  BBBBB
BBBBBBBB
