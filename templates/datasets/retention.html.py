BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  BB BBBB BB BBBBBBBBB
     gettext(u'These rules apply to all datasets of the organization that have none of their own.') 
  BBBB
     gettext(u'These rules apply to all checkpoints of the organization that have none of their own.') 
  BBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Default retention') X
          XXXXXXXXXX XX
  XXXX XXXXXXXXXXXX XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Rules') XX
      BB BBB
        XX XXXXXXXXXXXX XXXXXXX
          BB BBBB BB BBBBBBBBB
             ngettext(u'%(n)s dataset has rules of its own.', u'%(n)s datasets have rules of their own.', count) 
              SSSSS SSSSSSS SSS SSSSS SS SSS SSSS
            
              PPPPP PPPPPPPP PPPP PPPPP PP PPPPP PPPP
            
          BBBB
             ngettext(u'%(n)s checkpoint has rules of its own.', u'%(n)s checkpoints have rules of their own.', count) 
              SSSSS SSSSSSSSSS SSS SSSSS SS SSS SSSS
            
              PPPPP PPPPPPPPPPP PPPP PPPPP PP PPPPP PPPP
            
          BBBBB
        XXXX
      BBBBB
      XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BB BBBB
          XX XXXXXXXXXXXX XXXXXXXXXXXXXX
             ngettext(u'Would delete %(n)s version and free %(size)s.', u'Would delete %(n)s versions and free %(size)s.', count) 
              SSSSS SSSSSS SSSSS SSSSSSS SSS SSSS SSSSSSSSS
            
              PPPPP PPPPPP PPPPP PPPPPPPP PPP PPPP PPPPPPPPP
            
            BB BBBBBBBBBBB
               gettext(u'There are more; only a part is counted.') 
            BBBBB
          XXXX
        BBBBB
        XXXX XXXXXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXX
                  XXXXXXXXX
                  XXXXXXXXXXXX
                  XXXXXXXXXX pgettext(u'button', u'Save') X
                  XXXXXXXXXXXXXX gettext(u'Save these rules? What they do not keep is deleted permanently within a day.') XX pgettext(u'button', u'Save') XXXXXXXXX
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXX gettext(u'See what would be deleted') XXXXXXXXX
        XXXXXX
      XXXXXXX
    XXXXXXXXXX
    BB BBBBBBBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXX
          XXXXXXX
            XXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Name') XXXXX
              XXX XXXXXXXXXXXX pgettext(u'column', u'Team') XXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Versions') XXXXX
              XXX XXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Frees') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBB BB BBBBBBBBB
              XXXX
                XXX XXXXXXXXXXX XXXXXX
                  BB BBBBBBBBBBBBBBBBBBBBBBBBB
                     XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'value', u'in the trash') XXXXXXX
                  BBBB
                    XX XXXXXXXXXXXXX
                       XXXXXXBBB BBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBXXXXXXXXXXXXXXXX
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXXXXXXXXXX
                XXX XXXXXXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Versions') XXFFFFFFFFFFFFFFFFXXXXX
                XXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXXXXX pgettext(u'column', u'Frees') XXFFFFXXXXX
              XXXXX
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
